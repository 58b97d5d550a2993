#define _GNU_SOURCE
#include "plain_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "statements.h"

enum {
    INSERT_ALERT, COUNT_SOURCE, COUNT_ACCOUNT, NOTE_APPEARANCE, NOTE_TURN, RESOLVE,
    COLLECT, AUDIT, STATEMENTS
};

// As long as the name of a boot.
#define BOOT "'3f0d6c52-8a1e-4f6b-9c0d-2b7e5a914c38 time:[4026531834]'"

static const char *const texts[STATEMENTS] = {
    [INSERT_ALERT] =
        "INSERT INTO alerts (source_id, pid, host, style, priority, title, message, buttons,"
        "    info, salt, boot, asked_ms, asked_boot_ms, queued_seq)"
        " VALUES (1, 1, 'host', 'alert', 1, ?, '40 GB', ?, '{}', ?, " BOOT ", ?, ?, ?)",
    [COUNT_SOURCE] = "UPDATE sources SET pending = pending + ? WHERE id = 1",
    [COUNT_ACCOUNT] = "UPDATE sources SET pending = pending + ? WHERE id = 2",
    [NOTE_APPEARANCE] = "UPDATE alerts SET presented_ms = ? WHERE id = ?",
    [NOTE_TURN] =
        "INSERT INTO turns (priority, principal_id, source_id, seq)"
        " VALUES (1, 0, 0, ?1), (1, 2, 0, ?1), (1, 2, 1, ?1)"
        " ON CONFLICT DO UPDATE SET seq = excluded.seq",
    [RESOLVE] =
        "UPDATE alerts SET outcome = 'answered', button_index = 0, resolved_by = 'person',"
        "    handled = 0, responder = '0', responder_name = 'root', via = 'bench',"
        "    responder_host = 'host', responder_pid = 1, resolved_ms = ?, resolved_seq = ?"
        " WHERE id = ?",
    [COLLECT] = "UPDATE alerts SET collected_ms = ? WHERE id = ?",
    [AUDIT] =
        "INSERT INTO audit (seq, at_ms, event, alert_id, source, principal, user, via, host, boot,"
        "    pid, content, previous, hash, detail)"
        " VALUES (?, ?, ?, ?, 'bench', '0', 'root', 'bench', 'host', " BOOT ", 1, ?, ?, ?, ?)",
};

static const char buttons[] =
    "[{\"id\":\"yes\",\"title\":\"Yes\"},{\"id\":\"no\",\"role\":\"cancel\",\"title\":\"No\"}]";

struct plain_loop {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    int version;
    sqlite3_int64 sequence;
    // The alert whose collection has yet to be stored; 0 if there is none.
    sqlite3_int64 collected;
    unsigned char hash[32];
    // As long as the detail of a question in the queue.
    char detail[102 + 1];
};

static void is_known(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const plain_loop *loop = sqlite3_user_data(context);
    sqlite3_result_int(context, sqlite3_value_int(values[0]) <= loop->version);
}

static int read_sequence(plain_loop *loop) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        loop->db, "SELECT coalesce(max(seq), 0) FROM audit", -1, &statement, NULL);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        loop->sequence = sqlite3_column_int64(statement, 0);
    }
    THEN(sqlite3_finalize(statement));
    return code;
}

int plain_loop_open(const char *path, const char *guard, int version, plain_loop **result) {
    plain_loop *loop = *result = calloc(1, sizeof *loop);
    if (loop == NULL) return SQLITE_NOMEM;
    loop->version = version;
    memset(loop->hash, 7, sizeof loop->hash);
    memset(loop->detail, 'd', sizeof loop->detail - 1);
    int code = sqlite3_open_v2(
        path, &loop->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    THEN(sqlite3_create_function(
        loop->db, guard, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, loop, is_known, NULL, NULL));
    THEN(execute(
        loop->db,
        "PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL;"
        "PRAGMA mmap_size = 0; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 1000;"
        "INSERT INTO sources (id, principal, name) SELECT * FROM (VALUES (1, '0', 'bench'), (2, '0', ''))"
        " WHERE NOT EXISTS (SELECT * FROM sources)"));
    THEN(read_sequence(loop));
    THEN(statements_prepare(loop->db, texts, loop->statements, STATEMENTS));
    return code;
}

static int audit(
    plain_loop *loop, const char *event, sqlite3_int64 alert, sqlite3_int64 now,
    const char *detail
) {
    sqlite3_stmt *statement = loop->statements[AUDIT];
    sqlite3_bind_int64(statement, 1, ++loop->sequence);
    sqlite3_bind_int64(statement, 2, now);
    bind_text(statement, 3, event);
    sqlite3_bind_int64(statement, 4, alert);
    for (int index = 5; index <= 7; index++) {
        sqlite3_bind_blob(statement, index, loop->hash, sizeof loop->hash, SQLITE_STATIC);
    }
    // Without a text, the detail is NULL.
    sqlite3_bind_text(statement, 8, detail, -1, SQLITE_STATIC);
    return run(statement);
}

static int change_pending(plain_loop *loop, int change) {
    int code = SQLITE_OK;
    for (int index = COUNT_SOURCE; index <= COUNT_ACCOUNT; index++) {
        sqlite3_bind_int64(loop->statements[index], 1, change);
        THEN(run(loop->statements[index]));
    }
    return code;
}

// Marks the last response as collected, with its entry.
static int collect(plain_loop *loop, sqlite3_int64 now) {
    if (loop->collected == 0) return SQLITE_OK;
    sqlite3_stmt *statement = loop->statements[COLLECT];
    sqlite3_bind_int64(statement, 1, now);
    sqlite3_bind_int64(statement, 2, loop->collected);
    int code = run(statement);
    THEN(audit(loop, "collected", loop->collected, now, NULL));
    loop->collected = 0;
    return code;
}

static int insert_alert(plain_loop *loop, int number, sqlite3_int64 now) {
    char title[48];
    snprintf(title, sizeof title, "Prune old snapshots? %d", number);
    sqlite3_stmt *statement = loop->statements[INSERT_ALERT];
    bind_text(statement, 1, title);
    bind_text(statement, 2, buttons);
    sqlite3_bind_blob(statement, 3, loop->hash, 16, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, now);
    sqlite3_bind_int64(statement, 5, now);
    sqlite3_bind_int64(statement, 6, loop->sequence + 1);
    return run(statement);
}

static int ask(plain_loop *loop, int number, sqlite3_int64 *alert) {
    int code = execute(loop->db, "BEGIN IMMEDIATE");
    sqlite3_int64 now = milliseconds_now();
    THEN(insert_alert(loop, number, now));
    *alert = sqlite3_last_insert_rowid(loop->db);
    THEN(change_pending(loop, 1));
    THEN(audit(loop, "asked", *alert, now, loop->detail));
    THEN(execute(loop->db, "COMMIT"));
    return code;
}

static int note_appearance(plain_loop *loop, sqlite3_int64 alert, sqlite3_int64 now) {
    sqlite3_stmt *statement = loop->statements[NOTE_APPEARANCE];
    sqlite3_bind_int64(statement, 1, now);
    sqlite3_bind_int64(statement, 2, alert);
    return run(statement);
}

static int resolve(plain_loop *loop, sqlite3_int64 alert, sqlite3_int64 now) {
    sqlite3_stmt *statement = loop->statements[RESOLVE];
    sqlite3_bind_int64(statement, 1, now);
    sqlite3_bind_int64(statement, 2, loop->sequence);
    sqlite3_bind_int64(statement, 3, alert);
    return run(statement);
}

static int note_turn(plain_loop *loop) {
    sqlite3_stmt *statement = loop->statements[NOTE_TURN];
    sqlite3_bind_int64(statement, 1, loop->sequence);
    return run(statement);
}

static int answer(plain_loop *loop, sqlite3_int64 alert) {
    int code = execute(loop->db, "BEGIN IMMEDIATE");
    sqlite3_int64 now = milliseconds_now();
    THEN(collect(loop, now));
    THEN(note_appearance(loop, alert, now));
    THEN(audit(loop, "presented", alert, now, NULL));
    THEN(note_turn(loop));
    THEN(audit(loop, "resolved", alert, now, NULL));
    THEN(resolve(loop, alert, now));
    THEN(change_pending(loop, -1));
    THEN(execute(loop->db, "COMMIT"));
    loop->collected = alert;
    return code;
}

int plain_loop_ask(plain_loop *loop, int count) {
    int code = SQLITE_OK;
    sqlite3_int64 alert = 0;
    for (int number = 0; number < count && code == SQLITE_OK; number++) {
        code = ask(loop, number, &alert);
    }
    return code;
}

int plain_loop_ask_and_answer(plain_loop *loop, int count) {
    int code = SQLITE_OK;
    sqlite3_int64 alert = 0;
    for (int number = 0; number < count && code == SQLITE_OK; number++) {
        code = ask(loop, number, &alert);
        THEN(answer(loop, alert));
    }
    return code;
}

const char *plain_loop_message(plain_loop *loop) {
    return sqlite3_errmsg(loop ? loop->db : NULL);
}

void plain_loop_close(plain_loop *loop) {
    if (loop == NULL) return;
    statements_finalize(loop->statements, STATEMENTS);
    sqlite3_close(loop->db);
    free(loop);
}
