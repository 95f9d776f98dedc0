/* base/banned.h -- calls that do not build here, each with what to use instead.
 *
 * Forced into every source file of ours by the build (-include). A banned call is marked as
 * deprecated, which our builds turn into an error at the line that calls it; system headers and
 * libraries may go on using it. Only under gcc: clang takes no attribute after glibc's fortified
 * definitions, and every change is built by gcc too.
 */
#ifndef LOCI_BASE_BANNED_H
#define LOCI_BASE_BANNED_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__GNUC__) && !defined(__clang__)
#define LOCI_BAN(instead) __attribute__((deprecated("banned here: use " instead)))

LOCI_BAN("loci_buf") char *strcpy(char *, const char *);
LOCI_BAN("loci_buf") char *strncpy(char *, const char *, size_t);
LOCI_BAN("loci_buf") char *stpcpy(char *, const char *);
LOCI_BAN("loci_buf") char *strcat(char *, const char *);
LOCI_BAN("loci_buf") char *strncat(char *, const char *, size_t);
LOCI_BAN("snprintf or loci_buf") int sprintf(char *, const char *, ...);
LOCI_BAN("vsnprintf or loci_buf") int vsprintf(char *, const char *, va_list);
LOCI_BAN("loci_str_cut") char *strtok(char *, const char *);
LOCI_BAN("loci_str_cut") char *strtok_r(char *, const char *, char **);

LOCI_BAN("loci_str_to_i64") int atoi(const char *);
LOCI_BAN("loci_str_to_i64") long atol(const char *);
LOCI_BAN("loci_str_to_i64") long long atoll(const char *);
LOCI_BAN("base/json.h, which no locale changes") double atof(const char *);

LOCI_BAN("base/clock.h") struct tm *gmtime(const time_t *);
LOCI_BAN("base/clock.h") struct tm *localtime(const time_t *);
LOCI_BAN("base/clock.h") char *asctime(const struct tm *);
LOCI_BAN("base/clock.h") char *ctime(const time_t *);
LOCI_BAN("base/clock.h") time_t mktime(struct tm *);

LOCI_BAN("loci_zalloc") void *malloc(size_t);
LOCI_BAN("loci_zalloc") void *calloc(size_t, size_t);
LOCI_BAN("loci_realloc") void *realloc(void *, size_t);
LOCI_BAN("loci_realloc") void *reallocarray(void *, size_t, size_t);
LOCI_BAN("loci_free or loci_free_foreign") void free(void *);
LOCI_BAN("loci_arena_str") char *strdup(const char *);
LOCI_BAN("loci_arena_str") char *strndup(const char *, size_t);
LOCI_BAN("loci_buf_printf") int asprintf(char **, const char *, ...);
LOCI_BAN("loci_buf_printf") int vasprintf(char **, const char *, va_list);
#endif

#endif
