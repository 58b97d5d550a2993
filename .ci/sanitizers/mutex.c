// Shows the thread sanitizer what it can't see: the slow path of Swift's `Mutex`.
//
// A contended `Synchronization.Mutex` goes through PI futexes in libswiftSynchronization, which is
// not instrumented, so that the sanitizer misses the hand-over and calls what the lock protects a
// race. Preloaded, this library stands before the three slow functions, calls them, and tells the
// sanitizer of the same hand-over at the same address as the fast path, whose atomics it sees.
// Nothing is suppressed: what two threads touch outside of one lock is still a race.
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
