#include "net/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static bool is_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}

static bool all_host_bytes(loci_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_host_byte(s.ptr[i])) return false;
    return s.len > 0;
}

/* inet_pton wants a C string. */
static bool is_address(int family, loci_str s, void *ret_address)
{
    char text[INET6_ADDRSTRLEN];

    if (s.len >= sizeof text) return false;
    if (s.len) memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    return strlen(text) == s.len && inet_pton(family, text, ret_address) == 1;
}

static bool is_port(loci_str s)
{
    uint64_t n;
    return s.len == 0 || (s.len <= 5 && loci_str_to_u64(s, &n) && n <= UINT16_MAX);
}

/* What stands behind the name must be nothing or ":port". */
static bool take_port(loci_str rest, loci_str *ret_port)
{
    if (rest.len == 0) {
        *ret_port = (loci_str){ NULL, 0 };
        return true;
    }
    if (rest.ptr[0] != ':') return false;
    *ret_port = loci_str_sub(rest, 1, rest.len);
    return is_port(*ret_port);
}

static bool parse_bracketed(loci_str text, loci_host *ret_host)
{
    struct in6_addr address;
    size_t end = loci_str_find(text, LOCI_STR("]"));

    if (end == text.len) return false;
    ret_host->name = loci_str_sub(text, 1, end - 1);
    ret_host->ipv6 = true;
    return is_address(AF_INET6, ret_host->name, &address) &&
           take_port(loci_str_sub(text, end + 1, text.len), &ret_host->port);
}

static bool parse_plain(loci_str text, loci_host *ret_host)
{
    size_t colon = loci_str_find(text, LOCI_STR(":"));

    ret_host->name = loci_str_sub(text, 0, colon);
    return all_host_bytes(ret_host->name) &&
           take_port(loci_str_sub(text, colon, text.len), &ret_host->port);
}

loci_rc loci_host_parse(loci_str text, loci_host *ret_host, loci_err *err)
{
    loci_host host = { 0 };

    if (text.len > LOCI_HOST_BYTES)
        return loci_fail(err, LOCI_EINVAL, "host longer than %d bytes", LOCI_HOST_BYTES);
    bool ok =
        text.len && text.ptr[0] == '[' ? parse_bracketed(text, &host) : parse_plain(text, &host);
    if (!ok) return loci_fail(err, LOCI_EINVAL, "not a host name or address with a port");
    *ret_host = host;
    return LOCI_OK;
}

bool loci_host_is_loopback(const loci_host *host)
{
    static const struct in6_addr one = IN6ADDR_LOOPBACK_INIT;
    struct in6_addr six;
    struct in_addr four;
    const loci_str tail = LOCI_STR(".localhost");

    if (host->ipv6)
        return is_address(AF_INET6, host->name, &six) && memcmp(&six, &one, sizeof six) == 0;
    if (is_address(AF_INET, host->name, &four)) return ntohl(four.s_addr) >> 24 == 127;
    if (loci_str_eq_nocase(host->name, LOCI_STR("localhost"))) return true;
    return host->name.len > tail.len &&
           loci_str_eq_nocase(loci_str_sub(host->name, host->name.len - tail.len, tail.len), tail);
}

static bool same_host(const loci_host *host, loci_str item)
{
    loci_host allowed;

    if (loci_host_parse(item, &allowed, NULL)) return false;
    if (allowed.ipv6 != host->ipv6 || !loci_str_eq_nocase(allowed.name, host->name)) return false;
    return allowed.port.len == 0 || loci_str_eq(allowed.port, host->port);
}

loci_rc loci_guard_host(loci_str header, loci_str allowed, loci_err *err)
{
    loci_host host;
    loci_str item;

    loci_rc rc = loci_host_parse(header, &host, err);
    if (rc) {
        loci_err_prefix(err, "the Host header");
        return rc;
    }
    if (loci_host_is_loopback(&host)) return LOCI_OK;
    while (loci_str_cut(&allowed, ',', &item))
        if (same_host(&host, loci_str_trim(item))) return LOCI_OK;
    return loci_fail(err, LOCI_EDENIED,
                     "this server is not called '%.*s'; its configuration can allow that name",
                     LOCI_ARG(header));
}

/* scheme://host, compared as browsers write it. */
static bool is_own_origin(loci_str origin, loci_str scheme, loci_str host)
{
    const loci_str slashes = LOCI_STR("://");

    if (origin.len != scheme.len + slashes.len + host.len) return false;
    return loci_str_eq_nocase(loci_str_sub(origin, 0, scheme.len), scheme) &&
           loci_str_eq(loci_str_sub(origin, scheme.len, slashes.len), slashes) &&
           loci_str_eq_nocase(loci_str_sub(origin, scheme.len + slashes.len, host.len), host);
}

bool loci_guard_origin(loci_str origin, loci_str scheme, loci_str host_header, loci_str allowed)
{
    static const char *const shipped[] = {
        "http://letta.localhost", "http://localhost:8283", "http://localhost:8083",
        "http://localhost:3000",  "http://localhost:4200",
    };
    loci_str item;

    if (origin.len == 0 || loci_str_eq_nocase(origin, LOCI_STR("null"))) return false;
    if (host_header.len && is_own_origin(origin, scheme, host_header)) return true;
    for (size_t i = 0; i < LOCI_COUNT(shipped); i++)
        if (loci_str_eq_nocase(origin, loci_str_from(shipped[i]))) return true;
    while (loci_str_cut(&allowed, ',', &item))
        if (loci_str_eq_nocase(origin, loci_str_trim(item))) return true;
    return false;
}

static loci_str unquote(loci_str s)
{
    bool quoted = s.len >= 2 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"';
    return quoted ? loci_str_sub(s, 1, s.len - 2) : s;
}

bool loci_guard_json_type(loci_str content_type)
{
    loci_str rest = content_type, part, name;

    if (!loci_str_cut(&rest, ';', &part)) return false;
    if (!loci_str_eq_nocase(loci_str_trim(part), LOCI_STR("application/json"))) return false;
    if (!loci_str_cut(&rest, ';', &part)) return true;
    part = loci_str_trim(part);
    if (part.len == 0) return rest.ptr == NULL;
    if (!loci_str_cut(&part, '=', &name) || !part.ptr || rest.ptr) return false;
    return loci_str_eq_nocase(name, LOCI_STR("charset")) &&
           loci_str_eq_nocase(unquote(part), LOCI_STR("utf-8"));
}
