#include "api/status.h"

int loci_status_http(loci_rc code)
{
    static const int statuses[] = {
        [LOCI_OK] = 200,        [LOCI_DONE] = 200,         [LOCI_EINVAL] = 400,
        [LOCI_ESHAPE] = 422,    [LOCI_EAUTH] = 401,        [LOCI_EDENIED] = 403,
        [LOCI_ENOTFOUND] = 404, [LOCI_ECONFLICT] = 409,    [LOCI_ELIMIT] = 413,
        [LOCI_EBUSY] = 429,     [LOCI_EUNAVAILABLE] = 503, [LOCI_ENOSYS] = 501,
        [LOCI_ENOMEM] = 503,    [LOCI_EIO] = 500,          [LOCI_ECORRUPT] = 500,
    };
    return (size_t)code < LOCI_COUNT(statuses) ? statuses[code] : 500;
}
