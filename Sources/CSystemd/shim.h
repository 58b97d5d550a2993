#ifndef ALERTQ_CSYSTEMD_SHIM_H
#define ALERTQ_CSYSTEMD_SHIM_H

#include <dlfcn.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-journal.h>

// The functions of libsystemd that are used. They are found at run time: see SystemdLibrary.
#define CSYSTEMD_FUNCTIONS(each) \
    each(sd_bus_flush_close_unref) \
    each(sd_bus_get_events) \
    each(sd_bus_get_fd) \
    each(sd_bus_get_timeout) \
    each(sd_bus_message_append_basic) \
    each(sd_bus_message_close_container) \
    each(sd_bus_message_enter_container) \
    each(sd_bus_message_get_error) \
    each(sd_bus_message_get_reply_cookie) \
    each(sd_bus_message_get_sender) \
    each(sd_bus_message_is_method_error) \
    each(sd_bus_message_is_signal) \
    each(sd_bus_message_new_method_call) \
    each(sd_bus_message_open_container) \
    each(sd_bus_message_read_basic) \
    each(sd_bus_message_unref) \
    each(sd_bus_open_user) \
    each(sd_bus_process) \
    each(sd_bus_send) \
    each(sd_journal_sendv)

typedef struct csystemd {
#define CSYSTEMD_MEMBER(name) __typeof__(name) *_Nonnull name;
    CSYSTEMD_FUNCTIONS(CSYSTEMD_MEMBER)
#undef CSYSTEMD_MEMBER
} csystemd;

// Loads the library for as long as the process lives; returns why that is impossible, or NULL.
static inline const char *_Nullable csystemd_load(csystemd *_Nonnull systemd) {
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
#define CSYSTEMD_FIND(name) \
    if (!(systemd->name = (__typeof__(name) *)dlsym(library, #name))) return dlerror();
    CSYSTEMD_FUNCTIONS(CSYSTEMD_FIND)
#undef CSYSTEMD_FIND
    return NULL;
}

#endif
