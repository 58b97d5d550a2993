#ifndef ALERTQ_CPOSTGRESQL_SHIM_H
#define ALERTQ_CPOSTGRESQL_SHIM_H

#include <dlfcn.h>
#include <stddef.h>

// Debian has libpq's headers in a directory of their own.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

// The functions of libpq that are used. They are found at run time: see LibPQ.
#define CPOSTGRESQL_FUNCTIONS(each) \
    each(PQbackendPID) \
    each(PQclear) \
    each(PQcmdStatus) \
    each(PQcmdTuples) \
    each(PQconnectPoll) \
    each(PQconnectStartParams) \
    each(PQconnectionNeedsPassword) \
    each(PQconninfoFree) \
    each(PQconninfoParse) \
    each(PQconsumeInput) \
    each(PQenterPipelineMode) \
    each(PQerrorMessage) \
    each(PQexitPipelineMode) \
    each(PQfinish) \
    each(PQflush) \
    each(PQfreemem) \
    each(PQftype) \
    each(PQgetResult) \
    each(PQgetisnull) \
    each(PQgetlength) \
    each(PQgetvalue) \
    each(PQisBusy) \
    each(PQnotifies) \
    each(PQntuples) \
    each(PQparameterStatus) \
    each(PQpipelineSync) \
    each(PQresultErrorField) \
    each(PQresultErrorMessage) \
    each(PQresultStatus) \
    each(PQsendPrepare) \
    each(PQsendQuery) \
    each(PQsendQueryParams) \
    each(PQsendQueryPrepared) \
    each(PQserverVersion) \
    each(PQsetErrorVerbosity) \
    each(PQsetNoticeReceiver) \
    each(PQsetnonblocking) \
    each(PQsocket) \
    each(PQstatus) \
    each(PQtransactionStatus) \
    each(PQunescapeBytea)

typedef struct cpostgresql {
#define CPOSTGRESQL_MEMBER(name) __typeof__(name) *_Nonnull name;
    CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_MEMBER)
#undef CPOSTGRESQL_MEMBER
} cpostgresql;

// Loads the library for as long as the process lives; returns why that is impossible, or NULL.
static inline const char *_Nullable cpostgresql_load(cpostgresql *_Nonnull library) {
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return dlerror();
#define CPOSTGRESQL_FIND(name) \
    if (!(library->name = (__typeof__(name) *)dlsym(handle, #name))) return dlerror();
    CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_FIND)
#undef CPOSTGRESQL_FIND
    return NULL;
}

// The fields of a message are macros of characters; see PQresultErrorField.
static const int cpostgresql_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int cpostgresql_localized_severity = PG_DIAG_SEVERITY;
static const int cpostgresql_sqlstate = PG_DIAG_SQLSTATE;
static const int cpostgresql_message = PG_DIAG_MESSAGE_PRIMARY;
static const int cpostgresql_detail = PG_DIAG_MESSAGE_DETAIL;
static const int cpostgresql_constraint = PG_DIAG_CONSTRAINT_NAME;

#endif
