/* base/compiler.h -- every compiler extension that the project uses, under one name each.
 *
 * Here:     attributes, cleanup, overflow checks. gcc 12 and clang 14 have all of them.
 * Not here: anything that runs. No other file may write __attribute__ or __builtin_*,
 *           except SIMD kernels in vec/ (target attributes need their own intrinsics).
 */
#ifndef LOCI_BASE_COMPILER_H
#define LOCI_BASE_COMPILER_H

/* The result must be looked at. */
#define LOCI_MUST __attribute__((warn_unused_result))

/* Argument `fmt` is a printf format, its values start at argument `first`. */
#define LOCI_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* Run fn(&variable) when the variable goes out of scope: LOCI_AUTO(loci_arena_freep) ... */
#define LOCI_AUTO(fn) __attribute__((cleanup(fn)))

/* Hand over a pointer that is under LOCI_AUTO: its value, and NULL is left behind. */
#define LOCI_TAKE(p)                                                                               \
    (__extension__({                                                                               \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = 0;                                                                                   \
        taken_;                                                                                    \
    }))

/* Defines name(), the cleanup function for a `type *` that fn() releases. */
#define LOCI_DEFINE_CLEANUP(name, type, fn)                                                        \
    static inline void name(type **p) /* NOLINT(bugprone-macro-parentheses): a type */             \
    {                                                                                              \
        fn(*p);                                                                                    \
        *p = 0;                                                                                    \
    }

#define LOCI_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define LOCI_UNUSED __attribute__((unused))
#define LOCI_LIKELY(x) __builtin_expect(!!(x), 1)

/* True when the result does not fit; *ret then holds the wrapped value. */
#define LOCI_ADD_OVERFLOWS(a, b, ret) __builtin_add_overflow((a), (b), (ret))
#define LOCI_MUL_OVERFLOWS(a, b, ret) __builtin_mul_overflow((a), (b), (ret))

#if defined(__SANITIZE_ADDRESS__)
#define LOCI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOCI_ASAN 1
#endif
#endif
#ifndef LOCI_ASAN
#define LOCI_ASAN 0
#endif

#endif
