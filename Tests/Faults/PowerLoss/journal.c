// Writes a journal of everything that a process does to the files of one directory, so that a test
// can determine what a power loss would have left of them.
//
// Preloaded with LD_PRELOAD; POWER_DIRECTORY names the directory, POWER_JOURNAL the journal. Every
// write, change of size, new name, removed name and sync becomes one record, appended by one
// writev(2); so does output to standard output, which is what the process acknowledges. Syncs are
// recorded but not carried out: the test itself simulates the disk. The syncs of files whose names
// end with POWER_LIE are neither carried out nor recorded. For 64-bit Linux only.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct record {
    char kind;  // 'O'pened, 'W'rite, si'Z'e at least, 'T'runcate, 'S'ync, 'L'ink, 'U'nlink, 'A'ck
    char made;  // for 'O': whether the file is new
    char padding[2];
    uint32_t length;  // of the bytes that follow: a name, or the written data
    uint64_t inode;
    uint64_t offset;
    uint64_t pid;
};

enum { descriptors = 4096 };
static int journal = -1;
static const char *directory;
static size_t directory_length;
static const char *lie;
// The inode of each descriptor in the directory; 0 for all others.
static uint64_t inodes[descriptors];
static char lies[descriptors];

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
    directory = getenv("POWER_DIRECTORY");
    const char *path = getenv("POWER_JOURNAL");
    lie = getenv("POWER_LIE");
    if (!directory || !path) return;
    directory_length = strlen(directory);
    int fd = openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    // Away from the low numbers that the program expects for its own files.
    journal = fcntl(fd, F_DUPFD_CLOEXEC, 900);
    close(fd);
}

static void append(struct record record, const void *bytes, size_t length) {
    if (journal < 0) return;
    int saved = errno;
    record.length = (uint32_t)length;
    record.pid = (uint64_t)getpid();
    struct iovec parts[2] = {{&record, sizeof record}, {(void *)bytes, length}};
    if (writev(journal, parts, 2) != (ssize_t)(sizeof record + length)) _exit(99);
    errno = saved;
}

// The name within the directory, "." for the directory itself; NULL for other paths.
static const char *name_of(const char *path) {
    if (journal < 0 || strncmp(path, directory, directory_length) != 0) return NULL;
    if (path[directory_length] == '\0') return ".";
    return path[directory_length] == '/' ? path + directory_length + 1 : NULL;
}

static uint64_t inode_of(int fd) {
    return fd >= 0 && fd < descriptors ? inodes[fd] : 0;
}

static int ends(const char *name, const char *ending) {
    size_t length = strlen(name), wanted = strlen(ending);
    return length >= wanted && strcmp(name + length - wanted, ending) == 0;
}

static int opened(int fd, const char *path, int was_there) {
    if (fd < 0 || fd >= descriptors) return fd;
    inodes[fd] = 0;
    const char *name = name_of(path);
    struct stat status;
    if (!name || fstat(fd, &status) != 0) return fd;
    inodes[fd] = status.st_ino;
    lies[fd] = lie && ends(name, lie);
    append((struct record){.kind = 'O', .made = !was_there, .inode = status.st_ino}, name,
           strlen(name));
    return fd;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & O_CREAT) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

static int open_and_tell(int at, const char *path, int flags, mode_t mode) {
    static int (*real)(int, const char *, int, ...);
    if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    int saved = errno;
    struct stat status;
    int was_there = fstatat(at, path, &status, 0) == 0;
    errno = saved;
    return opened(real(at, path, flags, mode), path, was_there);
}

int open(const char *path, int flags, ...) {
    MODE(flags)
    return open_and_tell(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags)
    return open_and_tell(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
    MODE(flags)
    return open_and_tell(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    MODE(flags)
    return open_and_tell(at, path, flags, mode);
}
int close(int fd) {
    REAL(close);
    if (fd >= 0 && fd < descriptors) inodes[fd] = 0;
    return real(fd);
}

static ssize_t wrote(int fd, const void *bytes, ssize_t count, off_t offset) {
    if (count > 0 && inode_of(fd))
        append((struct record){.kind = 'W', .inode = inode_of(fd), .offset = (uint64_t)offset},
               bytes, (size_t)count);
    return count;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    return wrote(fd, bytes, real(fd, bytes, count, offset), offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    REAL(pwrite64);
    return wrote(fd, bytes, real(fd, bytes, count, offset), offset);
}
ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(write);
    off_t offset = inode_of(fd) ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t written = real(fd, bytes, count);
    if (fd == STDOUT_FILENO && written > 0)
        append((struct record){.kind = 'A'}, bytes, (size_t)written);
    return wrote(fd, bytes, written, offset);
}

static int resized(int fd, int result, char kind, off_t size) {
    if (result == 0 && inode_of(fd))
        append((struct record){.kind = kind, .inode = inode_of(fd), .offset = (uint64_t)size},
               NULL, 0);
    return result;
}

int ftruncate(int fd, off_t size) {
    REAL(ftruncate);
    return resized(fd, real(fd, size), 'T', size);
}
int ftruncate64(int fd, off64_t size) {
    REAL(ftruncate64);
    return resized(fd, real(fd, size), 'T', size);
}
int posix_fallocate(int fd, off_t offset, off_t length) {
    REAL(posix_fallocate);
    return resized(fd, real(fd, offset, length), 'Z', offset + length);
}
int posix_fallocate64(int fd, off64_t offset, off64_t length) {
    REAL(posix_fallocate64);
    return resized(fd, real(fd, offset, length), 'Z', offset + length);
}

static int synced(int fd) {
    if (!lies[fd]) append((struct record){.kind = 'S', .inode = inode_of(fd)}, NULL, 0);
    return 0;
}

int fsync(int fd) {
    REAL(fsync);
    return inode_of(fd) ? synced(fd) : real(fd);
}
int fdatasync(int fd) {
    REAL(fdatasync);
    return inode_of(fd) ? synced(fd) : real(fd);
}

static int renamed(int result, char kind, const char *path) {
    const char *name = name_of(path);
    struct stat status = {0};
    if (result == 0 && name) {
        if (kind == 'L' && stat(path, &status) != 0) return result;
        append((struct record){.kind = kind, .inode = status.st_ino}, name, strlen(name));
    }
    return result;
}

int link(const char *from, const char *to) {
    REAL(link);
    return renamed(real(from, to), 'L', to);
}
int unlink(const char *path) {
    REAL(unlink);
    return renamed(real(path), 'U', path);
}
int rename(const char *from, const char *to) {
    REAL(rename);
    return renamed(renamed(real(from, to), 'L', to), 'U', from);
}
int renameat2(int at, const char *from, int to_at, const char *to, unsigned int flags) {
    REAL(renameat2);
    return renamed(renamed(real(at, from, to_at, to, flags), 'L', to), 'U', from);
}
