#include "net/client.h"

#include "net/client_int.h"

#include <string.h>

typedef struct parts {
    CURLU *handle;
    char *scheme, *user, *password, *host, *port, *path, *query;
} parts;

static void free_parts(parts *p)
{
    curl_free(p->scheme);
    curl_free(p->user);
    curl_free(p->password);
    curl_free(p->host);
    curl_free(p->port);
    curl_free(p->path);
    curl_free(p->query);
    curl_url_cleanup(p->handle);
}

static bool take_apart(parts *p, const char *url)
{
    if (curl_url_set(p->handle, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME)) return false;
    (void)curl_url_get(p->handle, CURLUPART_SCHEME, &p->scheme, 0);
    (void)curl_url_get(p->handle, CURLUPART_USER, &p->user, 0);
    (void)curl_url_get(p->handle, CURLUPART_PASSWORD, &p->password, 0);
    (void)curl_url_get(p->handle, CURLUPART_HOST, &p->host, 0);
    (void)curl_url_get(p->handle, CURLUPART_PORT, &p->port, 0);
    (void)curl_url_get(p->handle, CURLUPART_PATH, &p->path, 0);
    (void)curl_url_get(p->handle, CURLUPART_QUERY, &p->query, 0);
    return p->scheme && p->host;
}

/* libcurl takes more than we do: blanks and control characters would end up in messages. */
static bool all_printable(const char *url)
{
    for (; *url; url++)
        if (*url <= ' ' || *url > '~') return false;
    return true;
}

static loci_rc describe(const parts *p, loci_url *ret_url, loci_err *err)
{
    loci_url url = { .tls = strcmp(p->scheme, "https") == 0,
                     .has_path = p->path && strcmp(p->path, "/") != 0,
                     .has_query = p->query };
    loci_host host;

    int len = snprintf(url.host, sizeof url.host, "%s%s%s", p->host, p->port ? ":" : "",
                       p->port ? p->port : "");
    if (len < 0 || (size_t)len >= sizeof url.host ||
        loci_host_parse(loci_str_from(url.host), &host, NULL))
        return loci_fail(err, LOCI_EINVAL, "the address has no usable host");
    url.loopback = loci_host_is_loopback(&host);
    *ret_url = url;
    return LOCI_OK;
}

loci_rc loci_url_parse(const char *url, loci_url *ret_url, loci_err *err)
{
    LOCI_AUTO(free_parts) parts p = { 0 };

    if (strlen(url) >= LOCI_URL_BYTES)
        return loci_fail(err, LOCI_EINVAL, "the address is longer than %d bytes",
                         LOCI_URL_BYTES - 1);
    p.handle = curl_url();
    if (!p.handle) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (!all_printable(url) || !take_apart(&p, url))
        return loci_fail(err, LOCI_EINVAL,
                         "that is no address; it should look like http://127.0.0.1:8080");
    if (strcmp(p.scheme, "http") != 0 && strcmp(p.scheme, "https") != 0)
        return loci_fail(err, LOCI_EINVAL, "the address must start with http:// or https://");
    if (p.user || p.password)
        return loci_fail(err, LOCI_EINVAL,
                         "the address must have no name or password in it; keys come from the "
                         "environment");
    return describe(&p, ret_url, err);
}

/* Codes that mean more than "the connection broke". */
static const struct reason {
    CURLcode code;
    loci_rc rc;
    const char *text;
} reasons[] = {
    { CURLE_COULDNT_RESOLVE_HOST, LOCI_EUNAVAILABLE, "its name cannot be resolved" },
    { CURLE_COULDNT_RESOLVE_PROXY, LOCI_EUNAVAILABLE, "the name of the proxy cannot be resolved" },
    { CURLE_COULDNT_CONNECT, LOCI_EUNAVAILABLE, "cannot connect" },
    { CURLE_OPERATION_TIMEDOUT, LOCI_EUNAVAILABLE, "no answer in time" },
    { CURLE_GOT_NOTHING, LOCI_EUNAVAILABLE, "closed the connection without an answer" },
    { CURLE_PARTIAL_FILE, LOCI_EUNAVAILABLE, "the answer broke off" },
    { CURLE_PEER_FAILED_VERIFICATION, LOCI_EDENIED, "its certificate is not trusted" },
    { CURLE_SSL_CONNECT_ERROR, LOCI_EDENIED, "no TLS connection" },
    { CURLE_SSL_CACERT_BADFILE, LOCI_EDENIED, "the trusted certificates cannot be read" },
    { CURLE_FILESIZE_EXCEEDED, LOCI_ELIMIT, "the answer is longer than the limit" },
    { CURLE_WEIRD_SERVER_REPLY, LOCI_ECORRUPT, "what came back is not HTTP" },
    { CURLE_UNSUPPORTED_PROTOCOL, LOCI_ECORRUPT, "what came back is not HTTP" },
    { CURLE_OUT_OF_MEMORY, LOCI_ENOMEM, "out of memory" },
    { CURLE_RECV_ERROR, LOCI_EUNAVAILABLE, "the connection broke" },
    { CURLE_SEND_ERROR, LOCI_EUNAVAILABLE, "the connection broke" },
};

loci_rc loci_client_fail(CURLcode code, const char *host, const char *detail, long system,
                         loci_err *err)
{
    for (size_t i = 0; i < LOCI_COUNT(reasons); i++) {
        const struct reason *r = &reasons[i];
        if (r->code != code) continue;
        if (system && r->rc == LOCI_EUNAVAILABLE && code != CURLE_OPERATION_TIMEDOUT)
            return loci_fail(err, r->rc, "%s: %s: %s", host, r->text, strerror((int)system));
        if (r->rc == LOCI_EDENIED && detail[0])
            return loci_fail(err, r->rc, "%s: %s: %.120s", host, r->text, detail);
        return loci_fail(err, r->rc, "%s: %s", host, r->text);
    }
    return loci_fail(err, LOCI_EIO, "%s: %s", host, curl_easy_strerror(code));
}
