/* A small table for the tests of ops/: operations that need no store. */
#ifndef LOCI_TEST_SMALL_OPS_H
#define LOCI_TEST_SMALL_OPS_H

#include "ops/call.h"

/* Two groups, as two rooms would bring them. The caller frees the result. */
loci_ops *small_ops(void);

/* What the handlers keep instead of a store; call->app points here. */
struct loci_app {
    size_t kept; /* calls of `keep` */
};

#endif
