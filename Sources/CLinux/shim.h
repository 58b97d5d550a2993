#ifndef ALERTQ_CLINUX_SHIM_H
#define ALERTQ_CLINUX_SHIM_H

#include <fcntl.h>
#include <getopt.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

// fcntl is variadic, and glibc hides F_OFD_* unless _GNU_SOURCE is defined; the numbers are the
// kernel's (include/uapi/asm-generic/fcntl.h) and part of its stable interface.
#define CLINUX_F_OFD_GETLK 36
#define CLINUX_F_OFD_SETLK 37

static inline int clinux_ofd_setlk(int fd, struct flock *lock) {
    return fcntl(fd, CLINUX_F_OFD_SETLK, lock);
}

static inline int clinux_ofd_getlk(int fd, struct flock *lock) {
    return fcntl(fd, CLINUX_F_OFD_GETLK, lock);
}

// `stat` and `flock` are each a structure and a function; Swift sees the structure first.
#include <sys/file.h>
#include <sys/stat.h>

static inline int clinux_flock(int fd, int operation) {
    return flock(fd, operation);
}

// Hidden behind _GNU_SOURCE; the kernel's header has its structure.
#include <linux/stat.h>
#include <stdint.h>
#include <sys/sysmacros.h>

extern int statx(int directory, const char *path, int flags, unsigned int mask, struct statx *);

// What distinguishes a file from every other one, past or future; see statx(2). A file system
// without birth times reports 0. An empty path means the file of the descriptor itself.
struct clinux_file {
    uint64_t device, inode;
    int64_t size, born_seconds, born_nanoseconds;
    uint32_t links;
    int is_mount_root, knows_mount_roots;
};

static inline int clinux_file_look(int descriptor, const char *path, struct clinux_file *file) {
    struct statx found;
    const int at_empty_path = 0x1000;
    int code = statx(
        descriptor, path, *path ? 0 : at_empty_path,
        STATX_TYPE | STATX_INO | STATX_NLINK | STATX_SIZE | STATX_BTIME, &found);
    if (code != 0) return code;
    file->device = makedev(found.stx_dev_major, found.stx_dev_minor);
    file->inode = found.stx_ino;
    file->size = (int64_t)found.stx_size;
    file->links = found.stx_nlink;
    const uint64_t mount_root = 0x2000; // STATX_ATTR_MOUNT_ROOT, since Linux 5.8
    file->is_mount_root = (found.stx_attributes & mount_root) != 0;
    file->knows_mount_roots = (found.stx_attributes_mask & mount_root) != 0;
    int is_known = (found.stx_mask & STATX_BTIME) != 0;
    file->born_seconds = is_known ? found.stx_btime.tv_sec : 0;
    file->born_nanoseconds = is_known ? found.stx_btime.tv_nsec : 0;
    return 0;
}

// Hidden behind _GNU_SOURCE.
extern int renameat2(int, const char *, int, const char *, unsigned int flags);

static inline int clinux_rename_new(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */);
}

static inline int clinux_exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, 2 /* RENAME_EXCHANGE */);
}

// Whether the program is a static executable: it names no dynamic linker, which is what loads
// libraries; see elf(5) and getauxval(3).
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

static inline _Bool clinux_is_static(void) {
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    for (unsigned long left = getauxval(AT_PHNUM); left > 0; left--, header++)
        if (header->p_type == PT_INTERP) return 0;
    return 1;
}

// ioctl is variadic.
static inline int clinux_window_size(int fd, struct winsize *size) {
    return ioctl(fd, TIOCGWINSZ, size);
}

static inline int clinux_set_window_size(int fd, const struct winsize *size) {
    return ioctl(fd, TIOCSWINSZ, size);
}

// Whether the kernel says that the wall clock is synchronised, as NTP keeps it; see adjtimex(2).
// Reading needs no right; a sandbox may refuse it all the same, and then nobody says so.
#include <sys/timex.h>

static inline _Bool clinux_is_clock_synchronized(void) {
    struct timex state = {.modes = 0};
    int code = adjtimex(&state);
    return code >= 0 && code != TIME_ERROR && !(state.status & STA_UNSYNC);
}

// Macros with arguments are not imported.
static inline int clinux_exited(int status) { return WIFEXITED(status); }
static inline int clinux_exit_status(int status) { return WEXITSTATUS(status); }
static inline int clinux_stopped(int status) { return WIFSTOPPED(status); }
static inline int clinux_signaled(int status) { return WIFSIGNALED(status); }
static inline int clinux_term_signal(int status) { return WTERMSIG(status); }

// getopt's results are global variables, which Swift 6 can't prove to be safe; its callers hold
// a lock. Setting optind to 0 makes glibc start over; see getopt_long(3).
static inline void clinux_getopt_reset(void) { optind = 0; opterr = 0; }
static inline int clinux_getopt_index(void) { return optind; }
static inline void clinux_getopt_skip(void) { optind++; }
static inline int clinux_getopt_option(void) { return optopt; }
static inline const char *clinux_getopt_argument(void) { return optarg; }

// glibc's header for malloc's settings is not part of Swift's module.
#include <malloc.h>

static inline void clinux_use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

// SIG_IGN is a macro with a cast, and sigaction's handler is in a union.
#include <signal.h>
#include <stddef.h>

static inline int clinux_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Hidden behind _GNU_SOURCE; glibc has had it since 2.34.
#include <spawn.h>

extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

static inline int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// Hidden behind _GNU_SOURCE, or newer than Swift's list of glibc's headers.
#include <sys/eventfd.h>

extern int memfd_create(const char *name, unsigned int flags);
extern int pidfd_open(pid_t process, unsigned int flags);
extern int pipe2(int descriptors[2], int flags);

static inline int clinux_memory_file(const char *name) {
    return memfd_create(name, 1 /* MFD_CLOEXEC */);
}

static inline int clinux_process_descriptor(pid_t process) { return pidfd_open(process, 0); }
static inline int clinux_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC); }
static inline int clinux_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
static inline void clinux_event_ring(int descriptor) { eventfd_write(descriptor, 1); }

// Sockets of this machine, and waiting for many of them: see unix(7) and epoll(7), which Swift's list
// of glibc's headers doesn't have.
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

struct clinux_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

// Who is at the other end of a socket, by the kernel's word.
static inline int clinux_find_peer(int socket, struct clinux_peer *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, peer, &length);
}

static inline int clinux_stream_socket(void) {
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static inline int clinux_socket_pair(int descriptors[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors);
}

static inline int clinux_socket_address(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

static inline int clinux_connect(int socket, const char *path) {
    struct sockaddr_un address;
    if (clinux_socket_address(path, &address) < 0) return -1;
    return connect(socket, (struct sockaddr *)&address, sizeof address);
}

static inline int clinux_bind(int socket, const char *path) {
    struct sockaddr_un address;
    if (clinux_socket_address(path, &address) < 0) return -1;
    return bind(socket, (struct sockaddr *)&address, sizeof address);
}

// The address of a socket at a path, or of an abstract one, whose name begins with “@” here; 0 if it is
// too long.
static inline socklen_t clinux_datagram_address(const char *path, struct sockaddr_un *address) {
    if (clinux_socket_address(path, address) < 0) return 0;
    if (*path == '@') address->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
}

static inline int clinux_bind_datagram(int socket, const char *path) {
    struct sockaddr_un address;
    socklen_t length = clinux_datagram_address(path, &address);
    return length == 0 ? -1 : bind(socket, (struct sockaddr *)&address, length);
}

static inline int clinux_send_datagram(const char *path, const char *text) {
    struct sockaddr_un address;
    socklen_t length = clinux_datagram_address(path, &address);
    if (length == 0) return -1;
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0) return -1;
    ssize_t count = sendto(
        sender, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address, length);
    close(sender);
    return count < 0 ? -1 : 0;
}

// Whether a descriptor is a stream socket of this machine that listens; its path, if it has one.
static inline _Bool clinux_listens(int descriptor, char path[108]) {
    struct sockaddr_un address;
    socklen_t length = sizeof address;
    int value = 0;
    socklen_t size = sizeof value;
    memset(&address, 0, sizeof address);
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) < 0 || !value) return 0;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &value, &size) < 0 || value != SOCK_STREAM)
        return 0;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) < 0) return 0;
    if (address.sun_family != AF_UNIX) return 0;
    memcpy(path, address.sun_path, 108);
    path[107] = '\0';
    return 1;
}

// Listens at a TCP port of this machine alone, without blocking; returns the port, which is a free one
// for 0, or -1.
static inline int clinux_listen_loopback(_Bool is_new, uint16_t port, int *descriptor) {
    struct sockaddr_in old_address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 new_address = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr *address =
        is_new ? (struct sockaddr *)&new_address : (struct sockaddr *)&old_address;
    socklen_t length = is_new ? sizeof new_address : sizeof old_address;
    int one = 1;
    int made = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return -1;
    if (setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
        bind(made, address, length) < 0 || listen(made, SOMAXCONN) < 0 ||
        getsockname(made, address, &length) < 0) {
        int code = errno;
        close(made);
        errno = code;
        return -1;
    }
    *descriptor = made;
    return ntohs(is_new ? new_address.sin6_port : old_address.sin_port);
}

static inline int clinux_accept(int socket) {
    return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static inline int clinux_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

// Adds a descriptor, or changes what it is watched for.
static inline int clinux_epoll_watch(int epoll, int descriptor, _Bool reads, _Bool writes) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = (reads ? EPOLLIN | EPOLLRDHUP : 0) | (writes ? EPOLLOUT : 0);
    event.data.fd = descriptor;
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
    return errno == ENOENT ? epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) : -1;
}

static inline int clinux_epoll_forget(int epoll, int descriptor) {
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

// Waits until some descriptors are ready, and returns how many; at most 64.
static inline int clinux_epoll_wait(int epoll, int descriptors[64], int milliseconds) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, 64, milliseconds);
    for (int i = 0; i < count; i++) descriptors[i] = events[i].data.fd;
    return count;
}

#endif
