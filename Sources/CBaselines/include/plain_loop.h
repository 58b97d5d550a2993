#ifndef ALERTQ_PLAIN_LOOP_H
#define ALERTQ_PLAIN_LOOP_H

// The statements of `PlainLoop.swift`, called from C: with the same rows, transactions and pragmas,
// so that the difference between the two loops is what Swift costs.
//
// Every function that returns an `int` returns a result code of SQLite.
typedef struct plain_loop plain_loop;

// Opens a file that a store has created. `guard` is the SQL function without which its audit log
// can't be written, and `version` the newest schema for which that function is true.
//
// The loop must be closed even if this fails, unless it is null.
int plain_loop_open(const char *path, const char *guard, int version, plain_loop **loop);

// Asks a number of times, each in one synced transaction.
int plain_loop_ask(plain_loop *loop, int count);

// Asks and answers a number of times, each in two synced transactions.
int plain_loop_ask_and_answer(plain_loop *loop, int count);

// The last error message.
const char *plain_loop_message(plain_loop *loop);

void plain_loop_close(plain_loop *loop);

#endif
