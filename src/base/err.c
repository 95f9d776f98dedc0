#include "base/err.h"

#include <stdio.h>
#include <string.h>

/* The last byte of a cut message must not be the middle of a UTF-8 sequence: step back to the
 * lead byte when the sequence that it opens does not fit. */
static void trim_partial_char(char *msg, size_t len)
{
    size_t lead = len;

    while (lead > 0 && len - lead < 4 && ((unsigned char)msg[lead - 1] & 0xC0) == 0x80) lead--;
    if (lead == 0) return;
    unsigned char c = (unsigned char)msg[lead - 1];
    size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    if (len - lead + 1 < need) msg[lead - 1] = '\0';
}

void loci_err_setv(loci_err *err, loci_rc code, const char *fmt, va_list args)
{
    if (!err) return;
    err->code = code;
    int n = vsnprintf(err->msg, sizeof err->msg, fmt, args);
    if (n < 0) err->msg[0] = '\0';
    if (n >= (int)sizeof err->msg) trim_partial_char(err->msg, sizeof err->msg - 1);
}

void loci_err_set(loci_err *err, loci_rc code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    loci_err_setv(err, code, fmt, args);
    va_end(args);
}

void loci_err_prefix(loci_err *err, const char *fmt, ...)
{
    va_list args;
    char old[sizeof err->msg];

    if (!err) return;
    memcpy(old, err->msg, sizeof old);
    va_start(args, fmt);
    loci_err_setv(err, err->code, fmt, args);
    va_end(args);

    size_t len = strlen(err->msg);
    int n = snprintf(err->msg + len, sizeof err->msg - len, ": %s", old);
    if (n >= 0 && (size_t)n >= sizeof err->msg - len)
        trim_partial_char(err->msg, sizeof err->msg - 1);
}

const char *loci_rc_name(loci_rc code)
{
    static const char *const names[] = {
        [LOCI_OK] = "ok",
        [LOCI_DONE] = "done",
        [LOCI_EINVAL] = "invalid",
        [LOCI_ESHAPE] = "wrong_shape",
        [LOCI_EAUTH] = "unauthorized",
        [LOCI_EDENIED] = "forbidden",
        [LOCI_ENOTFOUND] = "not_found",
        [LOCI_ECONFLICT] = "conflict",
        [LOCI_ELIMIT] = "too_large",
        [LOCI_EBUSY] = "busy",
        [LOCI_EUNAVAILABLE] = "unavailable",
        [LOCI_ENOSYS] = "not_implemented",
        [LOCI_ENOMEM] = "unavailable",
        [LOCI_EIO] = "internal",
        [LOCI_ECORRUPT] = "internal",
    };
    return (size_t)code < LOCI_COUNT(names) ? names[code] : "internal";
}
