#include "cli/table.h"

#include "base/utf8.h"

enum { COLUMNS_MAX = 16 };

static void write_cell(loci_buf *out, loci_str cell)
{
    for (size_t i = 0; i < cell.len; i++) {
        char c = cell.ptr[i];
        loci_buf_add_char(out, (unsigned char)c < ' ' || c == 127 ? ' ' : c);
    }
}

static void write_aligned(loci_buf *out, const loci_str *row, const size_t *widths, size_t columns)
{
    for (size_t c = 0; c < columns; c++) {
        write_cell(out, row[c]);
        if (c + 1 == columns) break;
        for (size_t n = loci_utf8_count(row[c]); n < widths[c] + 2; n++)
            loci_buf_add_char(out, ' ');
    }
    loci_buf_add_char(out, '\n');
}

static void write_plain(loci_buf *out, const loci_str *row, size_t columns)
{
    for (size_t c = 0; c < columns; c++) {
        if (c) loci_buf_add_char(out, '\t');
        write_cell(out, row[c]);
    }
    loci_buf_add_char(out, '\n');
}

void loci_table_write(loci_buf *out, const loci_str *cells, size_t columns, size_t rows,
                      bool terminal)
{
    size_t widths[COLUMNS_MAX] = { 0 };

    for (size_t i = 0; i < rows * columns; i++) {
        size_t n = loci_utf8_count(cells[i]);
        if (n > widths[i % columns]) widths[i % columns] = n;
    }
    for (size_t r = 0; r < rows; r++) {
        if (terminal)
            write_aligned(out, cells + r * columns, widths, columns);
        else if (r > 0)
            write_plain(out, cells + r * columns, columns);
    }
}
