// A plain loop of SQLite calls: the control of the power-loss test.
//
// plain DATABASE SYNCHRONOUS COUNT: inserts rows into a table in WAL mode, one a transaction, and
// acknowledges each on standard output once SQLite says that it is stored.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void run(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK) return;
    fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    exit(1);
}

int main(int count, char **words) {
    sqlite3 *db;
    char text[128];
    if (count != 4 || sqlite3_open(words[1], &db) != SQLITE_OK) return 1;
    // As with the queue, only a commit is to sync what was acknowledged.
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    snprintf(text, sizeof text, "PRAGMA synchronous = %s", words[2]);
    run(db, "PRAGMA journal_mode = WAL");
    run(db, text);
    run(db, "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY)");
    for (int id = 1; id <= atoi(words[3]); id++) {
        snprintf(text, sizeof text, "INSERT INTO rows VALUES (%d)", id);
        run(db, text);
        snprintf(text, sizeof text, "%d\n", id);
        if (write(STDOUT_FILENO, text, strlen(text)) < 0) return 1;
    }
    return sqlite3_close(db);
}
