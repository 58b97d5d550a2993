#ifndef ALERTQ_CSYSTEMD_DECLARATIONS_H
#define ALERTQ_CSYSTEMD_DECLARATIONS_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

// What is used of libsystemd, whose own headers are not needed: `.ci/declarations` compares them
// with these. See sd-bus(3) and sd-journal(3).

typedef struct sd_bus csystemd_bus;
typedef struct sd_bus_message csystemd_message;

typedef struct csystemd_error {
    const char *name;
    const char *message;
    int need_free;
} csystemd_error;

// Each function: what it returns, its name, its parameters.
#define CSYSTEMD_FUNCTIONS(each) \
    each(csystemd_bus *, sd_bus_flush_close_unref, (csystemd_bus *)) \
    each(int, sd_bus_get_events, (csystemd_bus *)) \
    each(int, sd_bus_get_fd, (csystemd_bus *)) \
    each(int, sd_bus_get_timeout, (csystemd_bus *, uint64_t *)) \
    each(int, sd_bus_message_append_basic, (csystemd_message *, char, const void *)) \
    each(int, sd_bus_message_close_container, (csystemd_message *)) \
    each(int, sd_bus_message_enter_container, (csystemd_message *, char, const char *)) \
    each(const csystemd_error *, sd_bus_message_get_error, (csystemd_message *)) \
    each(int, sd_bus_message_get_reply_cookie, (csystemd_message *, uint64_t *)) \
    each(const char *, sd_bus_message_get_sender, (csystemd_message *)) \
    each(int, sd_bus_message_is_method_error, (csystemd_message *, const char *)) \
    each(int, sd_bus_message_is_signal, (csystemd_message *, const char *, const char *)) \
    each(int, sd_bus_message_new_method_call, \
         (csystemd_bus *, csystemd_message **, const char *, const char *, const char *, \
          const char *)) \
    each(int, sd_bus_message_open_container, (csystemd_message *, char, const char *)) \
    each(int, sd_bus_message_read_basic, (csystemd_message *, char, void *)) \
    each(csystemd_message *, sd_bus_message_unref, (csystemd_message *)) \
    each(int, sd_bus_open_user, (csystemd_bus **)) \
    each(int, sd_bus_process, (csystemd_bus *, csystemd_message **)) \
    each(int, sd_bus_send, (csystemd_bus *, csystemd_message *, uint64_t *)) \
    each(int, sd_journal_sendv, (const struct iovec *, int))

typedef struct csystemd {
#define CSYSTEMD_MEMBER(result, name, parameters) result(*_Nonnull name) parameters;
    CSYSTEMD_FUNCTIONS(CSYSTEMD_MEMBER)
#undef CSYSTEMD_MEMBER
} csystemd;

// Finds the functions in a library that dlopen(3) has loaded; returns the name of one that it lacks,
// or NULL.
static inline const char *_Nullable csystemd_find(
    void *_Nonnull library, csystemd *_Nonnull functions) {
#define CSYSTEMD_FIND(result, name, parameters) \
    if (!(functions->name = (result(*) parameters)dlsym(library, #name))) return #name;
    CSYSTEMD_FUNCTIONS(CSYSTEMD_FIND)
#undef CSYSTEMD_FIND
    return NULL;
}

#endif
