/* Runs every example of every operation of a table: the test that a row's examples are true.
 *
 * A room that brings operations adds to its meson.build
 *     unit_tests += {'memory-ops': files('test_ops.c', '../ops/examples.c')}
 * and calls run_every_example from a test. */
#ifndef LOCI_TEST_EXAMPLES_H
#define LOCI_TEST_EXAMPLES_H

#include "ops/call.h"

/* Fills a call for the next example: who, app. Called once for each example, before the examples
 * that it needs are run with the same call; so this is the place to begin with an empty store. */
typedef void (*prepare_call)(loci_call *call, void *state);

/* Each example must validate, run, and give an output that fits its schema. What fails is reported
 * through cmocka with operation, title and reason. Returns how many were run. */
size_t run_every_example(const loci_ops *ops, prepare_call prepare, void *state);

#endif
