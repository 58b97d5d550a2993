// Compares what Sources/CMicroHTTPD, Sources/CPostgreSQL and Sources/CSystemd declare with the
// libraries' own headers: `.ci/declarations` compiles it. Nothing of it runs.
#include <microhttpd.h>
#include <postgresql/libpq-fe.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-journal.h>

#include "CMicroHTTPD/declarations.h"
#include "CPostgreSQL/declarations.h"
#include "CSystemd/declarations.h"

#define EQUAL(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME_SIZE(ours, theirs) \
    _Static_assert(sizeof(ours) == sizeof(theirs), "sizes differ: " #ours)
#define SAME_PLACE(ours, member, theirs, original) \
    _Static_assert( \
        offsetof(ours, member) == offsetof(theirs, original) && \
            sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->original), \
        "members differ: " #ours "." #member)
#define SAME_TYPE(ours, theirs) \
    _Static_assert(__builtin_types_compatible_p(ours, theirs), "types differ: " #ours)
#define SAME_MEMBER(ours, member, theirs, original) \
    SAME_PLACE(ours, member, theirs, original); \
    _Static_assert( \
        __builtin_types_compatible_p( \
            __typeof__(((ours *)0)->member), __typeof__(((theirs *)0)->original)), \
        "types differ: " #ours "." #member)

EQUAL(cpostgresql_connection_bad, CONNECTION_BAD);
EQUAL(cpostgresql_polling_reading, PGRES_POLLING_READING);
EQUAL(cpostgresql_polling_writing, PGRES_POLLING_WRITING);
EQUAL(cpostgresql_polling_ok, PGRES_POLLING_OK);
EQUAL(cpostgresql_in_transaction, PQTRANS_INTRANS);
EQUAL(cpostgresql_in_failed_transaction, PQTRANS_INERROR);
EQUAL(cpostgresql_empty_query, PGRES_EMPTY_QUERY);
EQUAL(cpostgresql_command_ok, PGRES_COMMAND_OK);
EQUAL(cpostgresql_tuples_ok, PGRES_TUPLES_OK);
EQUAL(cpostgresql_fatal_error, PGRES_FATAL_ERROR);
EQUAL(cpostgresql_pipeline_sync, PGRES_PIPELINE_SYNC);
EQUAL(cpostgresql_pipeline_aborted, PGRES_PIPELINE_ABORTED);
EQUAL(cpostgresql_verbosity_default, PQERRORS_DEFAULT);
EQUAL(cpostgresql_verbosity_verbose, PQERRORS_VERBOSE);
EQUAL(cpostgresql_severity, PG_DIAG_SEVERITY_NONLOCALIZED);
EQUAL(cpostgresql_localized_severity, PG_DIAG_SEVERITY);
EQUAL(cpostgresql_sqlstate, PG_DIAG_SQLSTATE);
EQUAL(cpostgresql_message, PG_DIAG_MESSAGE_PRIMARY);
EQUAL(cpostgresql_detail, PG_DIAG_MESSAGE_DETAIL);
EQUAL(cpostgresql_constraint, PG_DIAG_CONSTRAINT_NAME);

SAME_SIZE(cpostgresql_option, PQconninfoOption);
SAME_MEMBER(cpostgresql_option, keyword, PQconninfoOption, keyword);
SAME_MEMBER(cpostgresql_option, envvar, PQconninfoOption, envvar);
SAME_MEMBER(cpostgresql_option, compiled, PQconninfoOption, compiled);
SAME_MEMBER(cpostgresql_option, val, PQconninfoOption, val);
SAME_MEMBER(cpostgresql_option, label, PQconninfoOption, label);
SAME_MEMBER(cpostgresql_option, dispchar, PQconninfoOption, dispchar);
SAME_MEMBER(cpostgresql_option, dispsize, PQconninfoOption, dispsize);

SAME_SIZE(cpostgresql_notification, PGnotify);
SAME_MEMBER(cpostgresql_notification, relname, PGnotify, relname);
SAME_MEMBER(cpostgresql_notification, be_pid, PGnotify, be_pid);
SAME_MEMBER(cpostgresql_notification, extra, PGnotify, extra);
SAME_PLACE(cpostgresql_notification, next, PGnotify, next);

SAME_SIZE(csystemd_error, sd_bus_error);
SAME_MEMBER(csystemd_error, name, sd_bus_error, name);
SAME_MEMBER(csystemd_error, message, sd_bus_error, message);
SAME_MEMBER(csystemd_error, need_free, sd_bus_error, _need_free);

EQUAL(CMICROHTTPD_OPTION_CONNECTION_MEMORY_LIMIT, MHD_OPTION_CONNECTION_MEMORY_LIMIT);
EQUAL(CMICROHTTPD_OPTION_CONNECTION_LIMIT, MHD_OPTION_CONNECTION_LIMIT);
EQUAL(CMICROHTTPD_OPTION_CONNECTION_TIMEOUT, MHD_OPTION_CONNECTION_TIMEOUT);
EQUAL(CMICROHTTPD_OPTION_NOTIFY_COMPLETED, MHD_OPTION_NOTIFY_COMPLETED);
EQUAL(CMICROHTTPD_OPTION_URI_LOG_CALLBACK, MHD_OPTION_URI_LOG_CALLBACK);
EQUAL(CMICROHTTPD_OPTION_LISTEN_SOCKET, MHD_OPTION_LISTEN_SOCKET);
EQUAL(CMICROHTTPD_OPTION_UNESCAPE_CALLBACK, MHD_OPTION_UNESCAPE_CALLBACK);
EQUAL(CMICROHTTPD_OPTION_NOTIFY_CONNECTION, MHD_OPTION_NOTIFY_CONNECTION);
EQUAL(cmicrohttpd_use_epoll_thread, MHD_USE_EPOLL_INTERNAL_THREAD);
EQUAL(cmicrohttpd_allow_suspend_resume, MHD_ALLOW_SUSPEND_RESUME);
EQUAL(cmicrohttpd_no, MHD_NO);
EQUAL(cmicrohttpd_yes, MHD_YES);
EQUAL(cmicrohttpd_header_kind, MHD_HEADER_KIND);
EQUAL(cmicrohttpd_connection_fd, MHD_CONNECTION_INFO_CONNECTION_FD);
EQUAL(cmicrohttpd_socket_context, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
EQUAL(cmicrohttpd_must_copy, MHD_RESPMEM_MUST_COPY);
EQUAL(cmicrohttpd_completed_ok, MHD_REQUEST_TERMINATED_COMPLETED_OK);
EQUAL(cmicrohttpd_connection_started, MHD_CONNECTION_NOTIFY_STARTED);
EQUAL(cmicrohttpd_end_of_stream, MHD_CONTENT_READER_END_OF_STREAM);
EQUAL(cmicrohttpd_size_unknown, MHD_SIZE_UNKNOWN);
SAME_MEMBER(cmicrohttpd_info, connect_fd, union MHD_ConnectionInfo, connect_fd);
SAME_MEMBER(cmicrohttpd_info, socket_context, union MHD_ConnectionInfo, socket_context);
SAME_TYPE(cmicrohttpd_uri_log, void *(*)(void *, const char *, struct MHD_Connection *));
SAME_TYPE(
    cmicrohttpd_unescape, size_t (*)(void *, struct MHD_Connection *, char *));
SAME_TYPE(cmicrohttpd_completed, MHD_RequestCompletedCallback);
SAME_TYPE(cmicrohttpd_connected, MHD_NotifyConnectionCallback);

// From here on, names of ours mean the libraries' own structures, whose layouts are equal.
#define cmicrohttpd_info union MHD_ConnectionInfo
#define cpostgresql_option PQconninfoOption
#define cpostgresql_notification PGnotify
#define csystemd_error sd_bus_error

#define SAME_FUNCTION(result, name, parameters) \
    _Static_assert( \
        __builtin_types_compatible_p(__typeof__(name), result parameters), \
        "types differ: " #name);

CMICROHTTPD_FUNCTIONS(SAME_FUNCTION)
CPOSTGRESQL_FUNCTIONS(SAME_FUNCTION)
CSYSTEMD_FUNCTIONS(SAME_FUNCTION)
