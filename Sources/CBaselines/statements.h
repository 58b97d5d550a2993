#ifndef ALERTQ_STATEMENTS_H
#define ALERTQ_STATEMENTS_H

#include <sqlite3.h>
#include <time.h>

// Runs a step unless an earlier one has failed; `code` is a variable of the caller.
#define THEN(step) (code = code == SQLITE_OK ? (step) : code)

// Compiles statements that are kept and reused.
static inline int statements_prepare(
    sqlite3 *db, const char *const texts[], sqlite3_stmt *statements[], int count
) {
    int code = SQLITE_OK;
    for (int i = 0; i < count; i++) {
        THEN(sqlite3_prepare_v3(
            db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i], NULL));
    }
    return code;
}

static inline void statements_finalize(sqlite3_stmt *statements[], int count) {
    for (int i = 0; i < count; i++) sqlite3_finalize(statements[i]);
}

// Binds a text that outlives the run of the statement.
static inline void bind_text(sqlite3_stmt *statement, int index, const char *text) {
    sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

// Runs a statement to its end, and resets it for its next use.
static inline int run(sqlite3_stmt *statement) {
    while (sqlite3_step(statement) == SQLITE_ROW) {}
    // This returns an error of the step again; an error of binding has made the step fail.
    int code = sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code;
}

static inline int execute(sqlite3 *db, const char *script) {
    return sqlite3_exec(db, script, NULL, NULL, NULL);
}

static inline sqlite3_int64 milliseconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (sqlite3_int64)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

#endif
