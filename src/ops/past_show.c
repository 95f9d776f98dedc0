#include "ops/past_show.h"

#include "db/db.h"
#include "ops/show.h"

static bool one_of(loci_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (loci_str_eq(name, loci_str_from(names[i]))) return true;
    return false;
}

static void show_text(loci_json_writer *w, const loci_past_value *v, loci_arena *arena)
{
    static const char *const json[] = { "tags", "metadata", "extra", "content" };

    if (one_of(v->name, json, LOCI_COUNT(json)))
        loci_show_json(w, v->name.ptr, v->text, arena);
    else
        loci_show_text(w, v->name.ptr, v->text);
}

/* Numbers of rows mean nothing outside; times are shown as times; hashes of texts not at all. */
static void show_value(loci_json_writer *w, const loci_past_value *v, loci_arena *arena)
{
    static const char *const times[] = { "created_at", "expires_at" };
    static const char *const rows[] = { "agent", "branch", "archive", "parent", "block" };
    loci_past_value named = *v;

    if (v->type == 'b' || (v->type == 'i' && one_of(v->name, rows, LOCI_COUNT(rows)))) return;
    named.name = loci_arena_str(arena, v->name); /* with a NUL */
    if (!named.name.ptr) return;
    if (v->null) {
        loci_show_text(w, named.name.ptr, (loci_str){ NULL, 0 });
    } else if (v->type == 't') {
        show_text(w, &named, arena);
    } else if (one_of(v->name, times, LOCI_COUNT(times))) {
        loci_show_time(w, named.name.ptr, v->number);
    } else {
        loci_json_member_int(w, named.name.ptr, v->number);
    }
}

static void show_values(loci_json_writer *w, const char *name, const loci_past_row *row,
                        loci_arena *arena)
{
    loci_json_name(w, loci_str_from(name));
    if (!row) {
        loci_json_null(w);
        return;
    }
    loci_json_object(w);
    for (size_t i = 0; i < row->value_count; i++) show_value(w, &row->values[i], arena);
    loci_json_object_end(w);
}

void loci_past_show_row(loci_json_writer *w, const loci_past_row *row, loci_arena *arena)
{
    loci_json_object(w);
    loci_json_member_int(w, "rev", row->rev);
    loci_show_time(w, "born", row->born);
    if (row->ended == LOCI_NEVER)
        loci_show_text(w, "ended", (loci_str){ NULL, 0 });
    else
        loci_show_time(w, "ended", row->ended);
    loci_show_text(w, "who", row->who);
    loci_show_text(w, "door", row->door);
    loci_show_text(w, "ended_who", row->ended_who);
    loci_show_text(w, "ended_door", row->ended_door);
    loci_show_text(w, "name", row->name);
    loci_show_text(w, "node", row->node);
    loci_show_text(w, "text", row->text);
    show_values(w, "values", row, arena);
    loci_json_object_end(w);
}

void loci_past_show_diff(loci_json_writer *w, const loci_diff_entry *entry, loci_arena *arena)
{
    const loci_past_row *row = entry->new ? entry->new : entry->old;

    loci_json_object(w);
    loci_json_member_cstr(w, "event", loci_diff_event_name(entry->event));
    loci_json_member_cstr(w, "kind", entry->table);
    loci_show_text(w, "id", row->id);
    loci_show_text(w, "name", row->name);
    loci_show_text(w, "node", row->node);
    show_values(w, "old", entry->old, arena);
    show_values(w, "new", entry->new, arena);
    loci_json_name(w, LOCI_STR("fields"));
    loci_json_array(w);
    for (size_t i = 0; i < entry->field_count; i++)
        if (entry->fields[i].new->type != 'b') loci_json_string(w, entry->fields[i].new->name);
    loci_json_array_end(w);
    loci_json_object_end(w);
}

static void show_item(loci_json_writer *w, const loci_undo_item *item)
{
    loci_json_object(w);
    loci_json_member_cstr(w, "event", loci_undo_event_name(item->event));
    loci_json_member_cstr(w, "kind", item->table);
    loci_show_text(w, "id", item->id);
    loci_show_text(w, "name", item->name);
    loci_show_text(w, "node", item->node);
    loci_json_object_end(w);
}

static void show_shared(loci_json_writer *w, const loci_undo_shared *shared)
{
    loci_json_object(w);
    loci_json_member_cstr(w, "kind", shared->table);
    loci_show_text(w, "id", shared->id);
    loci_show_text(w, "name", shared->name);
    loci_json_member_int(w, "agents", shared->agents);
    loci_json_member_int(w, "rows", (int64_t)shared->rows);
    loci_json_object_end(w);
}

void loci_past_show_undo(loci_json_writer *w, const loci_undo_result *result)
{
    loci_json_object(w);
    loci_json_member_int(w, "restored", (int64_t)result->restored);
    loci_json_member_int(w, "removed", (int64_t)result->removed);
    loci_json_member_int(w, "reverted", (int64_t)result->reverted);
    loci_json_name(w, LOCI_STR("results"));
    loci_json_array(w);
    for (size_t i = 0; i < result->item_count; i++) show_item(w, &result->items[i]);
    loci_json_array_end(w);
    loci_json_name(w, LOCI_STR("shared"));
    loci_json_array(w);
    for (size_t i = 0; i < result->shared_count; i++) show_shared(w, &result->shared[i]);
    loci_json_array_end(w);
    loci_json_object_end(w);
}
