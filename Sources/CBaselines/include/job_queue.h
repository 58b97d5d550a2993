#ifndef ALERTQ_JOB_QUEUE_H
#define ALERTQ_JOB_QUEUE_H

// What a job queue on SQLite does for a message: it is enqueued, claimed by a worker, and
// acknowledged, each in one synced transaction that also adds a row to an audit table.
//
// This is not any library's code. It is the cycle that such libraries have in common, in C and with
// prepared statements, so that it takes no longer than one of them would.
//
// Every function that returns an `int` returns a result code of SQLite.
typedef struct job_queue job_queue;

// Creates a file with an empty queue.
//
// The queue must be closed even if this fails, unless it is null.
int job_queue_create(const char *path, job_queue **queue);

// Enqueues a number of jobs: one transaction each.
int job_queue_enqueue(job_queue *queue, int count);

// Enqueues, claims and acknowledges a number of jobs, one after another: three transactions each.
int job_queue_cycle(job_queue *queue, int count);

// The last error message.
const char *job_queue_message(job_queue *queue);

void job_queue_close(job_queue *queue);

#endif
