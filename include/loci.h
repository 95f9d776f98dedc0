/* loci.h -- memory for agents: the library's whole public face.
 *
 * Here:     what a program that links libloci may call. C99 and C++ clean.
 * Not here: anything under src/; those headers are private and change freely.
 * Owns:     nothing yet; each call says who owns its result.
 * Threads:  every call is safe from any thread.
 * Errors:   a call that can fail returns a loci_rc and fills an optional loci_err.
 */
#ifndef LOCI_H
#define LOCI_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LOCI_API __attribute__((visibility("default")))
#else
#define LOCI_API
#endif

/* What a call came to. The numbers are stable: new codes are added at the end. */
typedef enum loci_rc {
    LOCI_OK = 0,
    LOCI_DONE,         /* an iteration has no more rows; not a failure */
    LOCI_EINVAL,       /* a value is wrong */
    LOCI_ESHAPE,       /* the input has the wrong form: not JSON, a wrong type, an unknown field */
    LOCI_EAUTH,        /* no or wrong password or key */
    LOCI_EDENIED,      /* known, but not allowed */
    LOCI_ENOTFOUND,    /* no such thing */
    LOCI_ECONFLICT,    /* it exists already, or was changed meanwhile */
    LOCI_ELIMIT,       /* larger than a limit */
    LOCI_EBUSY,        /* too much at once; try again */
    LOCI_EUNAVAILABLE, /* a service or a file is away, or time ran out; try again later */
    LOCI_ENOSYS,       /* this build or store cannot do it */
    LOCI_ENOMEM,       /* out of memory */
    LOCI_EIO,          /* reading or writing failed */
    LOCI_ECORRUPT      /* a file or an answer is damaged */
} loci_rc;

/* The reason of a failure, for a person. Needs no memory of its own. */
typedef struct loci_err {
    loci_rc code;
    char msg[248];
} loci_err;

/* The library's version, "major.minor.patch". A constant; never free it. */
LOCI_API const char *loci_version(void);

/* The name of `code` as the doors spell it ("not_found"; "ok" for LOCI_OK). A constant;
 * never NULL, also for a number that is no code ("internal"). */
LOCI_API const char *loci_rc_name(loci_rc code);

#ifdef __cplusplus
}
#endif
#endif
