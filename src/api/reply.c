#include "api/api.h"
#include "api/status.h"

void loci_api_fail(loci_http_request *request, const loci_err *err)
{
    int status = loci_status_http(err->code);

    if (status == 429 || status == 503)
        loci_http_reply_header(request, "Retry-After", LOCI_STR("1"));
    loci_http_reply_error(request, status, loci_rc_name(err->code), "%s", err->msg);
}

void loci_api_reply(loci_http_request *request, const char *content_type, const loci_buf *body)
{
    loci_err err = { 0 };

    if (loci_buf_check(body, &err))
        loci_api_fail(request, &err);
    else
        loci_http_reply(request, 200, content_type, loci_buf_str(body));
}
