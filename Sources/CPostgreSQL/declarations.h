#ifndef ALERTQ_CPOSTGRESQL_DECLARATIONS_H
#define ALERTQ_CPOSTGRESQL_DECLARATIONS_H

#include <dlfcn.h>
#include <stddef.h>

// What is used of libpq, whose own headers are not needed: `.ci/declarations` compares them with
// these. See https://www.postgresql.org/docs/current/libpq.html.

typedef struct pg_conn cpostgresql_connection;
typedef struct pg_result cpostgresql_result;
typedef unsigned int cpostgresql_oid;

typedef struct cpostgresql_option {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} cpostgresql_option;

typedef struct cpostgresql_notification {
    char *relname;
    int be_pid;
    char *extra;
    struct cpostgresql_notification *next;
} cpostgresql_notification;

typedef void (*cpostgresql_receiver)(void *argument, const cpostgresql_result *result);

// Enumerations of libpq, whose values are unsigned integers. PQstatus:
#define cpostgresql_connection_bad 1u
// PQconnectPoll:
#define cpostgresql_polling_reading 1u
#define cpostgresql_polling_writing 2u
#define cpostgresql_polling_ok 3u
// PQtransactionStatus:
#define cpostgresql_in_transaction 2u
#define cpostgresql_in_failed_transaction 3u
// PQresultStatus:
#define cpostgresql_empty_query 0u
#define cpostgresql_command_ok 1u
#define cpostgresql_tuples_ok 2u
#define cpostgresql_fatal_error 7u
#define cpostgresql_pipeline_sync 10u
#define cpostgresql_pipeline_aborted 11u
// PQsetErrorVerbosity:
#define cpostgresql_verbosity_default 1u
#define cpostgresql_verbosity_verbose 2u
// PQresultErrorField, whose codes are characters:
#define cpostgresql_severity 86  // V
#define cpostgresql_localized_severity 83  // S
#define cpostgresql_sqlstate 67  // C
#define cpostgresql_message 77  // M
#define cpostgresql_detail 68  // D
#define cpostgresql_constraint 110  // n

// Each function: what it returns, its name, its parameters.
#define CPOSTGRESQL_FUNCTIONS(each) \
    each(int, PQbackendPID, (const cpostgresql_connection *)) \
    each(void, PQclear, (cpostgresql_result *)) \
    each(char *, PQcmdStatus, (cpostgresql_result *)) \
    each(char *, PQcmdTuples, (cpostgresql_result *)) \
    each(unsigned int, PQconnectPoll, (cpostgresql_connection *)) \
    each(cpostgresql_connection *, PQconnectStartParams, \
         (const char *const *, const char *const *, int)) \
    each(int, PQconnectionNeedsPassword, (const cpostgresql_connection *)) \
    each(void, PQconninfoFree, (cpostgresql_option *)) \
    each(cpostgresql_option *, PQconninfoParse, (const char *, char **)) \
    each(int, PQconsumeInput, (cpostgresql_connection *)) \
    each(int, PQenterPipelineMode, (cpostgresql_connection *)) \
    each(char *, PQerrorMessage, (const cpostgresql_connection *)) \
    each(int, PQexitPipelineMode, (cpostgresql_connection *)) \
    each(void, PQfinish, (cpostgresql_connection *)) \
    each(int, PQflush, (cpostgresql_connection *)) \
    each(void, PQfreemem, (void *)) \
    each(cpostgresql_oid, PQftype, (const cpostgresql_result *, int)) \
    each(cpostgresql_result *, PQgetResult, (cpostgresql_connection *)) \
    each(int, PQgetisnull, (const cpostgresql_result *, int, int)) \
    each(int, PQgetlength, (const cpostgresql_result *, int, int)) \
    each(char *, PQgetvalue, (const cpostgresql_result *, int, int)) \
    each(int, PQisBusy, (cpostgresql_connection *)) \
    each(cpostgresql_notification *, PQnotifies, (cpostgresql_connection *)) \
    each(int, PQntuples, (const cpostgresql_result *)) \
    each(const char *, PQparameterStatus, (const cpostgresql_connection *, const char *)) \
    each(int, PQpipelineSync, (cpostgresql_connection *)) \
    each(char *, PQresultErrorField, (const cpostgresql_result *, int)) \
    each(unsigned int, PQresultStatus, (const cpostgresql_result *)) \
    each(int, PQsendPrepare, \
         (cpostgresql_connection *, const char *, const char *, int, const cpostgresql_oid *)) \
    each(int, PQsendQuery, (cpostgresql_connection *, const char *)) \
    each(int, PQsendQueryParams, \
         (cpostgresql_connection *, const char *, int, const cpostgresql_oid *, \
          const char *const *, const int *, const int *, int)) \
    each(int, PQsendQueryPrepared, \
         (cpostgresql_connection *, const char *, int, const char *const *, const int *, \
          const int *, int)) \
    each(int, PQserverVersion, (const cpostgresql_connection *)) \
    each(unsigned int, PQsetErrorVerbosity, (cpostgresql_connection *, unsigned int)) \
    each(cpostgresql_receiver, PQsetNoticeReceiver, \
         (cpostgresql_connection *, cpostgresql_receiver, void *)) \
    each(int, PQsetnonblocking, (cpostgresql_connection *, int)) \
    each(int, PQsocket, (const cpostgresql_connection *)) \
    each(unsigned int, PQstatus, (const cpostgresql_connection *)) \
    each(unsigned int, PQtransactionStatus, (const cpostgresql_connection *)) \
    each(unsigned char *, PQunescapeBytea, (const unsigned char *, size_t *))

typedef struct cpostgresql {
#define CPOSTGRESQL_MEMBER(result, name, parameters) result(*_Nonnull name) parameters;
    CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_MEMBER)
#undef CPOSTGRESQL_MEMBER
} cpostgresql;

// Finds the functions in a library that dlopen(3) has loaded; returns the name of one that it lacks,
// or NULL.
static inline const char *_Nullable cpostgresql_find(
    void *_Nonnull library, cpostgresql *_Nonnull functions) {
#define CPOSTGRESQL_FIND(result, name, parameters) \
    if (!(functions->name = (result(*) parameters)dlsym(library, #name))) return #name;
    CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_FIND)
#undef CPOSTGRESQL_FIND
    return NULL;
}

#endif
