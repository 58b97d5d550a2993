// Compares what Sources/CPostgreSQL and Sources/CSystemd declare with the libraries' own headers:
// `.ci/declarations` compiles it. Nothing of it runs.
#include <postgresql/libpq-fe.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-journal.h>

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

// From here on, names of ours mean the libraries' own structures, whose layouts are equal.
#define cpostgresql_option PQconninfoOption
#define cpostgresql_notification PGnotify
#define csystemd_error sd_bus_error

#define SAME_FUNCTION(result, name, parameters) \
    _Static_assert( \
        __builtin_types_compatible_p(__typeof__(name), result parameters), \
        "types differ: " #name);

CPOSTGRESQL_FUNCTIONS(SAME_FUNCTION)
CSYSTEMD_FUNCTIONS(SAME_FUNCTION)
