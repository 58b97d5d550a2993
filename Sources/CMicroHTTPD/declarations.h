#ifndef ALERTQ_CMICROHTTPD_DECLARATIONS_H
#define ALERTQ_CMICROHTTPD_DECLARATIONS_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

// What is used of libmicrohttpd, from 0.9.75 on, whose own header is not needed:
// `.ci/declarations` compares it with this one. See
// <https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html>.

typedef struct MHD_Daemon cmicrohttpd_daemon;
typedef struct MHD_Connection cmicrohttpd_connection;
typedef struct MHD_Response cmicrohttpd_response;

// Enumerations of the library, as what C passes for them.
typedef unsigned int cmicrohttpd_result;
typedef unsigned int cmicrohttpd_kind;
typedef unsigned int cmicrohttpd_fact;

typedef union cmicrohttpd_info {
    int connect_fd;
    void *socket_context;
} cmicrohttpd_info;

#define CMICROHTTPD_OPTION_CONNECTION_MEMORY_LIMIT 1
#define CMICROHTTPD_OPTION_CONNECTION_LIMIT 2
#define CMICROHTTPD_OPTION_CONNECTION_TIMEOUT 3
#define CMICROHTTPD_OPTION_NOTIFY_COMPLETED 4
#define CMICROHTTPD_OPTION_URI_LOG_CALLBACK 7
#define CMICROHTTPD_OPTION_LISTEN_SOCKET 12
#define CMICROHTTPD_OPTION_UNESCAPE_CALLBACK 16
#define CMICROHTTPD_OPTION_NOTIFY_CONNECTION 27

enum {
    cmicrohttpd_use_epoll_thread = 520,
    cmicrohttpd_allow_suspend_resume = 9216,
    cmicrohttpd_no = 0,
    cmicrohttpd_yes = 1,
    cmicrohttpd_header_kind = 1,
    cmicrohttpd_connection_fd = 6,
    cmicrohttpd_socket_context = 7,
    cmicrohttpd_must_copy = 2,
    cmicrohttpd_completed_ok = 0,
    cmicrohttpd_connection_started = 0,
    cmicrohttpd_end_of_stream = -1,
};

// For a response whose length is known only at its end.
#define cmicrohttpd_size_unknown UINT64_MAX

typedef cmicrohttpd_result (*cmicrohttpd_accept)(
    void *_Nullable, const struct sockaddr *_Nullable, unsigned int);
typedef cmicrohttpd_result (*cmicrohttpd_access)(
    void *_Nullable, cmicrohttpd_connection *_Nullable, const char *_Nullable,
    const char *_Nullable, const char *_Nullable, const char *_Nullable, size_t *_Nullable,
    void *_Nullable *_Nullable);
typedef cmicrohttpd_result (*cmicrohttpd_each_value)(
    void *_Nullable, cmicrohttpd_kind, const char *_Nullable, size_t, const char *_Nullable,
    size_t);
typedef ssize_t (*cmicrohttpd_reader)(void *_Nullable, uint64_t, char *_Nullable, size_t);
typedef void (*cmicrohttpd_free)(void *_Nullable);
typedef void *_Nullable (*cmicrohttpd_uri_log)(
    void *_Nullable, const char *_Nullable, cmicrohttpd_connection *_Nullable);
typedef size_t (*cmicrohttpd_unescape)(
    void *_Nullable, cmicrohttpd_connection *_Nullable, char *_Nullable);
typedef void (*cmicrohttpd_completed)(
    void *_Nullable, cmicrohttpd_connection *_Nullable, void *_Nullable *_Nullable, unsigned int);
typedef void (*cmicrohttpd_connected)(
    void *_Nullable, cmicrohttpd_connection *_Nullable, void *_Nullable *_Nullable, unsigned int);

// Each function: what it returns, its name, its parameters.
#define CMICROHTTPD_FUNCTIONS(each) \
    each(cmicrohttpd_daemon *, MHD_start_daemon, \
         (unsigned int, uint16_t, cmicrohttpd_accept, void *, cmicrohttpd_access, void *, ...)) \
    each(int, MHD_quiesce_daemon, (cmicrohttpd_daemon *)) \
    each(cmicrohttpd_result, MHD_add_connection, \
         (cmicrohttpd_daemon *, int, const struct sockaddr *, socklen_t)) \
    each(void, MHD_stop_daemon, (cmicrohttpd_daemon *)) \
    each(void, MHD_suspend_connection, (cmicrohttpd_connection *)) \
    each(void, MHD_resume_connection, (cmicrohttpd_connection *)) \
    each(int, MHD_get_connection_values_n, \
         (cmicrohttpd_connection *, cmicrohttpd_kind, cmicrohttpd_each_value, void *)) \
    each(const cmicrohttpd_info *, MHD_get_connection_info, \
         (cmicrohttpd_connection *, cmicrohttpd_fact, ...)) \
    each(cmicrohttpd_response *, MHD_create_response_from_buffer, \
         (size_t, void *, unsigned int)) \
    each(cmicrohttpd_response *, MHD_create_response_from_callback, \
         (uint64_t, size_t, cmicrohttpd_reader, void *, cmicrohttpd_free)) \
    each(cmicrohttpd_result, MHD_add_response_header, \
         (cmicrohttpd_response *, const char *, const char *)) \
    each(cmicrohttpd_result, MHD_queue_response, \
         (cmicrohttpd_connection *, unsigned int, cmicrohttpd_response *)) \
    each(void, MHD_destroy_response, (cmicrohttpd_response *))

typedef struct cmicrohttpd {
#define CMICROHTTPD_MEMBER(result, name, parameters) result(*_Nonnull name) parameters;
    CMICROHTTPD_FUNCTIONS(CMICROHTTPD_MEMBER)
#undef CMICROHTTPD_MEMBER
} cmicrohttpd;

// Finds the functions in a library that dlopen(3) has loaded; returns the name of one that it lacks,
// or NULL.
static inline const char *_Nullable cmicrohttpd_find(
    void *_Nonnull library, cmicrohttpd *_Nonnull functions) {
#define CMICROHTTPD_FIND(result, name, parameters) \
    if (!(functions->name = (result(*) parameters)dlsym(library, #name))) return #name;
    CMICROHTTPD_FUNCTIONS(CMICROHTTPD_FIND)
#undef CMICROHTTPD_FIND
    return NULL;
}

typedef struct cmicrohttpd_settings {
    int listener;
    unsigned int connection_limit;
    size_t connection_memory;
    unsigned int connection_timeout; // in seconds
    // What each callback but `access` gets, too.
    void *_Nullable context;
    cmicrohttpd_access _Nonnull access;
    cmicrohttpd_uri_log _Nonnull uri_log;
    cmicrohttpd_unescape _Nonnull unescape;
    cmicrohttpd_completed _Nonnull completed;
    cmicrohttpd_connected _Nonnull connected;
} cmicrohttpd_settings;

// Starts a daemon with a thread of its own, which listens on a socket; NULL if it can't.
static inline cmicrohttpd_daemon *_Nullable cmicrohttpd_start(
    const cmicrohttpd *_Nonnull functions, const cmicrohttpd_settings *_Nonnull settings) {
    return functions->MHD_start_daemon(
        cmicrohttpd_use_epoll_thread | cmicrohttpd_allow_suspend_resume, 0, NULL, NULL,
        settings->access, settings->context,
        CMICROHTTPD_OPTION_LISTEN_SOCKET, settings->listener,
        CMICROHTTPD_OPTION_CONNECTION_LIMIT, settings->connection_limit,
        CMICROHTTPD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory,
        CMICROHTTPD_OPTION_CONNECTION_TIMEOUT, settings->connection_timeout,
        CMICROHTTPD_OPTION_UNESCAPE_CALLBACK, settings->unescape, settings->context,
        CMICROHTTPD_OPTION_URI_LOG_CALLBACK, settings->uri_log, settings->context,
        CMICROHTTPD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,
        CMICROHTTPD_OPTION_NOTIFY_CONNECTION, settings->connected, settings->context,
        0);
}

// The descriptor of a connection's socket.
static inline int cmicrohttpd_descriptor(
    const cmicrohttpd *_Nonnull functions, cmicrohttpd_connection *_Nonnull connection) {
    const cmicrohttpd_info *info =
        functions->MHD_get_connection_info(connection, cmicrohttpd_connection_fd);
    return info ? info->connect_fd : -1;
}

// What `connected` has stored of a connection.
static inline void *_Nullable cmicrohttpd_stored(
    const cmicrohttpd *_Nonnull functions, cmicrohttpd_connection *_Nonnull connection) {
    const cmicrohttpd_info *info =
        functions->MHD_get_connection_info(connection, cmicrohttpd_socket_context);
    return info ? info->socket_context : NULL;
}

#endif
