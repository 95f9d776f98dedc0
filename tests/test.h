/* tests/test.h -- cmocka with the includes that it needs before it, and what our tests share. */
#ifndef LOCI_TEST_H
#define LOCI_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/str.h"

/* A slice equals a C string. */
#define assert_str(slice, text)                                                                    \
    do {                                                                                           \
        loci_str got_ = (slice), want_ = loci_str_from(text);                                      \
        assert_int_equal(got_.len, want_.len);                                                     \
        if (got_.len) assert_memory_equal(got_.ptr, want_.ptr, got_.len);                          \
    } while (0)

/* A call came to LOCI_OK; otherwise its message is shown. */
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        loci_rc rc_ = (call);                                                                      \
        if (rc_ != LOCI_OK) fail_msg("%s: %s", loci_rc_name(rc_), (err).msg);                      \
    } while (0)

#endif
