#include "api/metrics.h"

/* Classes of routes, not routes: a path may hold ids, and what is never bounded must not become a
 * label. The first prefix that fits counts. */
static const struct {
    const char *name, *prefix;
} classes[LOCI_METRICS_CLASSES] = {
    { "ops", "/v1/ops" },     { "mcp", "/mcp" },   { "health", "/v1/health" },
    { "ready", "/v1/ready" }, { "letta", "/v1/" }, { "other", "" },
};

/* Upper bounds in microseconds, and as Prometheus writes them, in seconds. */
static const struct {
    int64_t us;
    const char *seconds;
} buckets[LOCI_METRICS_BUCKETS] = {
    { 100, "0.0001" },  { 250, "0.00025" }, { 500, "0.0005" }, { 1000, "0.001" },
    { 2500, "0.0025" }, { 5000, "0.005" },  { 10000, "0.01" }, { 50000, "0.05" },
    { 100000, "0.1" },  { 500000, "0.5" },  { 2000000, "2" },  { 10000000, "10" },
};

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static size_t class_of(loci_str path)
{
    size_t i = 0;
    while (!loci_str_starts(path, loci_str_from(classes[i].prefix))) i++;
    return i;
}

static size_t bucket_of(int64_t us)
{
    size_t i = 0;
    while (i < LOCI_METRICS_BUCKETS && us > buckets[i].us) i++;
    return i;
}

void loci_metrics_request(loci_metrics *m, loci_str path, int status, int64_t us, bool whole)
{
    size_t class = class_of(path);

    if (status > 0 && status < LOCI_METRICS_STATUSES) add(&m->requests[class][status], 1);
    if (!whole) add(&m->cut, 1);
    add(&m->took[class][bucket_of(us)], 1);
    add(&m->took_us[class], us > 0 ? (uint64_t)us : 0);
}

static void write_head(loci_buf *out, const char *name, const char *type, const char *help)
{
    loci_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_requests(loci_metrics *m, loci_buf *out)
{
    write_head(out, "loci_http_requests_total", "counter", "Answered requests.");
    for (size_t c = 0; c < LOCI_METRICS_CLASSES; c++) {
        for (size_t s = 0; s < LOCI_METRICS_STATUSES; s++) {
            uint64_t n = get(&m->requests[c][s]);
            if (n)
                loci_buf_printf(out, "loci_http_requests_total{route=\"%s\",status=\"%zu\"} %llu\n",
                                classes[c].name, s, (unsigned long long)n);
        }
    }
}

static void write_histogram(loci_metrics *m, size_t class, loci_buf *out)
{
    const char *name = classes[class].name;
    uint64_t sum = 0;

    for (size_t b = 0; b <= LOCI_METRICS_BUCKETS; b++) {
        sum += get(&m->took[class][b]);
        loci_buf_printf(out, "loci_http_duration_seconds_bucket{route=\"%s\",le=\"%s\"} %llu\n",
                        name, b < LOCI_METRICS_BUCKETS ? buckets[b].seconds : "+Inf",
                        (unsigned long long)sum);
    }
    uint64_t us = get(&m->took_us[class]);
    loci_buf_printf(out, "loci_http_duration_seconds_sum{route=\"%s\"} %llu.%06llu\n", name,
                    (unsigned long long)(us / 1000000), (unsigned long long)(us % 1000000));
    loci_buf_printf(out, "loci_http_duration_seconds_count{route=\"%s\"} %llu\n", name,
                    (unsigned long long)sum);
}

void loci_metrics_write(loci_metrics *m, loci_buf *out)
{
    write_requests(m, out);
    write_head(out, "loci_http_duration_seconds", "histogram",
               "From the request line to the end of the answer.");
    for (size_t c = 0; c < LOCI_METRICS_CLASSES; c++) write_histogram(m, c, out);
    write_head(out, "loci_http_cut_total", "counter", "Requests that got no whole answer.");
    loci_buf_printf(out, "loci_http_cut_total %llu\n", (unsigned long long)get(&m->cut));
    write_head(out, "loci_operations_in_flight", "gauge", "Operations that run now.");
    loci_buf_printf(out, "loci_operations_in_flight %lld\n",
                    (long long)atomic_load_explicit(&m->in_flight, memory_order_relaxed));
}
