/* The names of the toolsets. */
#include "base/suggest.h"
#include "base/utf8.h"
#include "ops/op.h"

enum { NAME_SHOWN = 40 };

static const struct toolset {
    const char *name;
    loci_toolsets sets;
} toolsets[] = {
    { "memory", LOCI_TOOLSET_MEMORY },   { "session", LOCI_TOOLSET_SESSION },
    { "journal", LOCI_TOOLSET_JOURNAL }, { "letta", LOCI_TOOLSET_LETTA },
    { "tree", LOCI_TOOLSET_TREE },       { "research", LOCI_TOOLSET_RESEARCH },
    { "files", LOCI_TOOLSET_FILES },     { "admin", LOCI_TOOLSET_ADMIN },
    { "all", LOCI_TOOLSET_ALL },
};

static loci_rc unknown(loci_str name, loci_err *err)
{
    loci_suggest near = { .wanted = name };

    for (size_t i = 0; i < LOCI_COUNT(toolsets); i++)
        loci_suggest_try(&near, loci_str_from(toolsets[i].name));
    loci_str shown = loci_utf8_cut(name, NAME_SHOWN);
    return loci_fail(
        err, LOCI_EINVAL,
        "there is no toolset '%.*s'%s There are memory, session, journal, letta, tree, "
        "research, files, admin and all.",
        LOCI_ARG(shown), near.best.len ? loci_suggest_text(&near).text : ".");
}

static loci_rc add_one(loci_str name, loci_toolsets *sets, loci_err *err)
{
    for (size_t i = 0; i < LOCI_COUNT(toolsets); i++)
        if (loci_str_eq(name, loci_str_from(toolsets[i].name))) {
            *sets |= toolsets[i].sets;
            return LOCI_OK;
        }
    return unknown(name, err);
}

loci_rc loci_toolsets_parse(loci_str list, loci_toolsets *ret_toolsets, loci_err *err)
{
    loci_toolsets sets = 0;
    loci_str rest = loci_str_trim(list), part;

    while (rest.len && loci_str_cut(&rest, ',', &part)) {
        loci_rc rc = add_one(loci_str_trim(part), &sets, err);
        if (rc) return rc;
    }
    *ret_toolsets = sets ? sets : LOCI_TOOLSET_DEFAULT;
    return LOCI_OK;
}

const char *loci_toolsets_name(loci_toolsets sets)
{
    for (size_t i = 0; i < LOCI_COUNT(toolsets); i++)
        if (sets & toolsets[i].sets) return toolsets[i].name;
    return "none";
}
