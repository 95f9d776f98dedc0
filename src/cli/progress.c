#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { REDRAW = 100 * LOCI_MS, WIDTH = 30 };

static void draw(const loci_progress *p)
{
    char bar[WIDTH + 1];
    int64_t done = p->done < p->total ? p->done : p->total;

    if (p->total <= 0) {
        (void)fprintf(stderr, "\r\033[K%s %lld", p->what, (long long)p->done);
        return;
    }
    for (int i = 0; i < WIDTH; i++) bar[i] = i < done * WIDTH / p->total ? '#' : '.';
    bar[WIDTH] = '\0';
    (void)fprintf(stderr, "\r\033[K%s [%s] %3lld %%", p->what, bar,
                  (long long)(done * 100 / p->total));
}

loci_rc loci_bar_tell(const loci_progress *progress, void *arg, loci_err *err)
{
    loci_bar *bar = arg;
    int64_t now = loci_clock_steady();

    (void)err;
    if (now - bar->drawn < REDRAW || !isatty(STDERR_FILENO)) return LOCI_OK;
    bar->drawn = now;
    bar->visible = true;
    draw(progress);
    return LOCI_OK;
}

void loci_bar_end(loci_bar *bar)
{
    if (bar->visible) (void)fprintf(stderr, "\r\033[K");
    bar->visible = false;
}
