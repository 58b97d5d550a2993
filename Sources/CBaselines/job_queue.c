#define _GNU_SOURCE
#include "job_queue.h"

#include <stdlib.h>

#include "statements.h"

static const char schema[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;"
    "CREATE TABLE jobs ("
    "    id          INTEGER PRIMARY KEY AUTOINCREMENT,"
    "    queue       TEXT    NOT NULL,"
    "    payload     TEXT    NOT NULL,"
    "    state       TEXT    NOT NULL DEFAULT 'ready',"
    "    attempts    INTEGER NOT NULL DEFAULT 0,"
    "    enqueued_ms INTEGER NOT NULL,"
    "    claimed_ms  INTEGER,"
    "    done_ms     INTEGER"
    ") STRICT;"
    // For the claim.
    "CREATE INDEX jobs_ready ON jobs (queue, id) WHERE state = 'ready';"
    "CREATE TABLE audit ("
    "    seq    INTEGER PRIMARY KEY,"
    "    at_ms  INTEGER NOT NULL,"
    "    event  TEXT    NOT NULL,"
    "    job_id INTEGER NOT NULL"
    ") STRICT;";

enum { ENQUEUE, CLAIM, ACKNOWLEDGE, AUDIT, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [ENQUEUE] = "INSERT INTO jobs (queue, payload, enqueued_ms) VALUES ('default', ?, ?)",
    [CLAIM] =
        "UPDATE jobs SET state = 'claimed', attempts = attempts + 1, claimed_ms = ?"
        " WHERE id = (SELECT id FROM jobs WHERE queue = 'default' AND state = 'ready'"
        "    ORDER BY id LIMIT 1)"
        " RETURNING id, payload",
    [ACKNOWLEDGE] =
        "UPDATE jobs SET state = 'done', done_ms = ? WHERE id = ? AND state = 'claimed'",
    [AUDIT] = "INSERT INTO audit (at_ms, event, job_id) VALUES (?, ?, ?)",
};

// The contents of an alert in the plain loop.
static const char payload[] =
    "{\"title\":\"Prune old snapshots?\",\"message\":\"40 GB\",\"buttons\":["
    "{\"id\":\"yes\",\"title\":\"Yes\"},{\"id\":\"no\",\"role\":\"cancel\",\"title\":\"No\"}]}";

struct job_queue {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
};

int job_queue_create(const char *path, job_queue **result) {
    job_queue *queue = *result = calloc(1, sizeof *queue);
    if (queue == NULL) return SQLITE_NOMEM;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, &queue->db, flags, NULL);
    THEN(execute(queue->db, schema));
    THEN(statements_prepare(queue->db, texts, queue->statements, STATEMENTS));
    return code;
}

static int audit(job_queue *queue, const char *event, sqlite3_int64 job, sqlite3_int64 now) {
    sqlite3_stmt *statement = queue->statements[AUDIT];
    sqlite3_bind_int64(statement, 1, now);
    bind_text(statement, 2, event);
    sqlite3_bind_int64(statement, 3, job);
    return run(statement);
}

static int enqueue(job_queue *queue) {
    int code = execute(queue->db, "BEGIN IMMEDIATE");
    sqlite3_int64 now = milliseconds_now();
    sqlite3_stmt *statement = queue->statements[ENQUEUE];
    bind_text(statement, 1, payload);
    sqlite3_bind_int64(statement, 2, now);
    THEN(run(statement));
    THEN(audit(queue, "enqueued", sqlite3_last_insert_rowid(queue->db), now));
    THEN(execute(queue->db, "COMMIT"));
    return code;
}

// Claims the oldest ready job; its id is 0 if there is none.
static int claim(job_queue *queue, sqlite3_int64 *job) {
    int code = execute(queue->db, "BEGIN IMMEDIATE");
    sqlite3_int64 now = milliseconds_now();
    sqlite3_stmt *statement = queue->statements[CLAIM];
    sqlite3_bind_int64(statement, 1, now);
    *job = 0;
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        *job = sqlite3_column_int64(statement, 0);
    }
    THEN(run(statement));
    THEN(audit(queue, "claimed", *job, now));
    THEN(execute(queue->db, "COMMIT"));
    return code;
}

static int acknowledge(job_queue *queue, sqlite3_int64 job) {
    int code = execute(queue->db, "BEGIN IMMEDIATE");
    sqlite3_int64 now = milliseconds_now();
    sqlite3_stmt *statement = queue->statements[ACKNOWLEDGE];
    sqlite3_bind_int64(statement, 1, now);
    sqlite3_bind_int64(statement, 2, job);
    THEN(run(statement));
    THEN(audit(queue, "acknowledged", job, now));
    THEN(execute(queue->db, "COMMIT"));
    return code;
}

int job_queue_enqueue(job_queue *queue, int count) {
    int code = SQLITE_OK;
    for (int number = 0; number < count; number++) THEN(enqueue(queue));
    return code;
}

int job_queue_cycle(job_queue *queue, int count) {
    int code = SQLITE_OK;
    sqlite3_int64 job = 0;
    for (int number = 0; number < count; number++) {
        THEN(enqueue(queue));
        THEN(claim(queue, &job));
        THEN(acknowledge(queue, job));
    }
    return code;
}

const char *job_queue_message(job_queue *queue) {
    return sqlite3_errmsg(queue ? queue->db : NULL);
}

void job_queue_close(job_queue *queue) {
    if (queue == NULL) return;
    statements_finalize(queue->statements, STATEMENTS);
    sqlite3_close(queue->db);
    free(queue);
}
