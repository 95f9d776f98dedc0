#include "ops/app.h"

#include "access/statements.h"
#include "base/alloc.h"
#include "base/fs.h"
#include "db/doctor.h"
#include "db/export.h"
#include "db/import.h"
#include "db/purge.h"
#include "db/schema.h"
#include "db/tables.h"
#include "ops/groups.h"
#include "tree/statements.h"

enum { TEXTS_MAX = 64 << 10 };

/* Every room that has tables or statements, in the order in which their tables build on another. */
static const loci_db_room *const rooms[] = {
    &loci_schema_room,
    &loci_write_room,
    &loci_access_room,
    &loci_tables_room,
    &loci_export_room,
    &loci_import_room,
    &loci_purge_room,
    &loci_doctor_room,
    &loci_tree_room,
    &loci_status_room,
    NULL,
};

/* The setting, or the usual place. Its folder is private, because memories are. */
static loci_rc find_store(const loci_config *config, char *const *env, loci_arena *arena,
                          const char **ret_url, loci_err *err)
{
    loci_str path = loci_config_text(config, "db");

    if (path.len == 0) {
        loci_rc rc = loci_config_store_path(arena, env, &path, err);
        if (rc) return rc;
        loci_str folder = loci_arena_str(arena, loci_fs_folder_of(path));
        if (!folder.ptr) return loci_arena_fail(arena, err);
        rc = loci_fs_make_folders(folder.ptr, err);
        if (rc) return rc;
    }
    *ret_url = path.ptr;
    return LOCI_OK;
}

loci_rc loci_app_store(const loci_config *config, char *const *env, loci_arena *arena,
                       const char **ret_url, loci_db_options *ret_options, loci_err *err)
{
    loci_rc rc = find_store(config, env, arena, ret_url, err);
    if (rc) return rc;
    *ret_options = (loci_db_options){
        .rooms = rooms,
        .durability = (loci_durability)loci_config_enum(config, "durability"),
    };
    return LOCI_OK;
}

static loci_rc open_store(loci_app *app, char *const *env, loci_err *err)
{
    loci_db_options options;
    const char *url = NULL;

    loci_rc rc = loci_app_store(app->config, env, app->arena, &url, &options, err);
    if (!rc) rc = loci_db_open(url, &options, &app->db, err);
    if (!rc) rc = loci_writer_new(app->db, &app->writer, err);
    return rc;
}

static void read_settings(loci_app *app)
{
    app->file_roots = loci_config_text(app->config, "file_roots");
    app->check_output = loci_config_bool(app->config, "check_output");
#ifndef __OPTIMIZE__
    app->check_output = true;
#endif
}

loci_rc loci_app_open(const loci_config *config, char *const *env, loci_app **ret_app,
                      loci_err *err)
{
    LOCI_AUTO(loci_app_closep) loci_app *app = loci_zalloc(sizeof *app);
    if (!app) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    app->config = config;
    app->arena = loci_arena_new(TEXTS_MAX);
    if (!app->arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    read_settings(app);

    loci_rc rc = loci_table_new(&app->ops, err);
    if (!rc) rc = open_store(app, env, err);
    if (rc) return rc;
    *ret_app = LOCI_TAKE(app);
    return LOCI_OK;
}

void loci_app_close(loci_app *app)
{
    if (!app) return;
    loci_writer_free(app->writer);
    loci_db_close(app->db);
    loci_ops_free(app->ops);
    loci_arena_free(app->arena);
    loci_free(app);
}

loci_str loci_app_door(const loci_call *call)
{
    static const char *const names[] = {
        [LOCI_DOOR_LIBRARY] = "library",
        [LOCI_DOOR_CLI] = "cli",
        [LOCI_DOOR_REST] = "rest",
        [LOCI_DOOR_MCP] = "mcp",
    };
    return loci_str_from(names[call->who->door]);
}

static loci_write_request request_of(const loci_call *call, loci_write_fn run, void *arg)
{
    return (loci_write_request){
        .org = call->who->org,
        .run = run,
        .arg = arg,
        .who = call->who->actor,
        .door = loci_app_door(call),
        .key = call->write_key,
        .input_hash = { (const char *)call->input_hash, sizeof call->input_hash },
    };
}

loci_rc loci_app_write(loci_call *call, loci_write_fn run, void *arg, loci_json_writer *out,
                       loci_err *err)
{
    loci_write_request request = request_of(call, run, arg);
    loci_write_result result = { 0 };

    loci_rc rc = loci_call_check(call, err); /* behind this point it will be done */
    if (!rc) rc = loci_write(call->app->writer, &request, call->arena, &result, err);
    if (!rc && result.answer.len) loci_json_raw(out, result.answer);
    return rc;
}

/* Runs only when the key is new; fails, so that nothing is written yet. */
static loci_rc note_new(loci_change *change, void *arg, loci_err *err)
{
    bool *is_new = arg;

    (void)change;
    *is_new = true;
    return loci_fail(err, LOCI_ECONFLICT, "the key is new");
}

static loci_rc add_answer(loci_change *change, void *arg, loci_err *err)
{
    const loci_buf *answer = arg;

    loci_buf_add(change->answer, loci_buf_str(answer));
    return loci_buf_check(change->answer, err);
}

loci_rc loci_app_write_long(loci_call *call, loci_op_handler run, loci_json_writer *out,
                            loci_err *err)
{
    bool is_new = false;
    loci_write_request probe = request_of(call, note_new, &is_new);
    loci_write_result first = { 0 };
    loci_json_writer w;
    loci_buf answer;

    if (call->write_key.len == 0) return run(call, out, err);
    loci_rc rc = loci_write(call->app->writer, &probe, call->arena, &first, err);
    if (rc && !is_new) return rc;
    if (!rc) {
        loci_json_raw(out, first.answer);
        return LOCI_OK;
    }
    loci_buf_init_arena(&answer, call->arena, LOCI_WRITE_ANSWER);
    loci_json_begin(&w, &answer);
    rc = run(call, &w, err);
    if (!rc) rc = loci_json_check(&w, err);
    return rc ? rc : loci_app_write(call, add_answer, &answer, out, err);
}

loci_rc loci_app_read(loci_call *call, loci_tx **ret_tx, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;

    loci_rc rc = loci_tx_begin(call->app->db, LOCI_TX_READ, &tx, err);
    if (rc) return rc;
    if (call->deadline && call->deadline != INT64_MAX) loci_tx_set_deadline(tx, call->deadline);
    *ret_tx = LOCI_TAKE(tx);
    return LOCI_OK;
}
