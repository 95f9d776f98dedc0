/* Any text as a date: what is accepted must be found again in what is printed. */
#include "base/date.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    loci_date date, again;
    loci_date_text text;
    loci_err err = { 0 };

    loci_rc rc = loci_date_parse((loci_str){ (const char *)data, size }, NULL, &date, &err);
    if (rc) {
        assert(err.code == rc && err.msg[0]);
        return 0;
    }
    rc = loci_date_parse(loci_date_print(LOCI_DATE_MICROS, date.at, NULL, &text), NULL, &again,
                         NULL);
    assert(rc == LOCI_OK && again.at == date.at);
    rc = loci_date_parse(loci_date_print(LOCI_DATE_ISO, date.at, NULL, &text), NULL, &again, NULL);
    assert(rc == LOCI_OK && again.at == date.at && again.has_zone);
    (void)loci_date_print(LOCI_DATE_PROMPT, date.at, NULL, &text);
    assert(loci_date_day_begin(date.at, NULL) <= date.at);
    assert(loci_date_day_next(date.at, NULL) > date.at);
    return 0;
}
