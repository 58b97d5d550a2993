// Makes the slow path of Swift's `Mutex` visible to the thread sanitizer.
//
// A contended `Synchronization.Mutex` goes through PI futexes in libswiftSynchronization, which is
// not instrumented, so that the sanitizer misses the hand-over and reports accesses under the lock
// as a race. Preloaded, this library intercepts the three slow functions, calls them, and reports
// to the sanitizer the same hand-over at the same address as the fast path, whose atomics it sees.
// Nothing is suppressed: an access by two threads without a common lock is still a race.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define CONTEXT __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Absent in programs that were built without the sanitizer.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lockSlow(uint32_t thread, CONTEXT void *mutex) __asm__(LOCK);
SWIFT bool tryLockSlow(CONTEXT void *mutex) __asm__(TRY);
SWIFT void unlockSlow(CONTEXT void *mutex) __asm__(UNLOCK);

typedef SWIFT void Lock(uint32_t, CONTEXT void *);
typedef SWIFT bool TryLock(CONTEXT void *);
typedef SWIFT void Unlock(CONTEXT void *);

SWIFT void lockSlow(uint32_t thread, CONTEXT void *mutex) {
    ((Lock *)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool tryLockSlow(CONTEXT void *mutex) {
    bool isLocked = ((TryLock *)dlsym(RTLD_NEXT, TRY))(mutex);
    if (isLocked && __tsan_acquire) __tsan_acquire(mutex);
    return isLocked;
}

SWIFT void unlockSlow(CONTEXT void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((Unlock *)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
