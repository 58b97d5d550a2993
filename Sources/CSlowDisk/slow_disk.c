#define _GNU_SOURCE
#include "slow_disk.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_uint delay;

void slow_disk_delay(unsigned microseconds) {
    delay = microseconds;
}

static int slowly(long result) {
    unsigned left = delay;
    if (left == 0 || result != 0) return (int)result;
    // Without this the kernel may add 50 µs in order to wake several sleepers at once.
    prctl(PR_SET_TIMERSLACK, 1);
    struct timespec time = {left / 1000000, left % 1000000 * 1000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
    return 0;
}

int fsync(int file) {
    return slowly(syscall(SYS_fsync, file));
}

int fdatasync(int file) {
    return slowly(syscall(SYS_fdatasync, file));
}
