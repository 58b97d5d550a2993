import AlertCore
import CLinux
import Glibc
import Linux
import Synchronization

/// Signals other processes that something has been committed.
///
/// The bell is a file with a length of one byte from the start, so that a full disk can't silence
/// it: the byte is rewritten after a commit, and inotify(7) wakes the listeners. A listener holds a
/// shared lock on the file, so that a process never rings when no other one listens.
final class Bell: Sendable {
    private let path: String
    private let mode: mode_t
    /// The byte that this process writes, which distinguishes its own ring from another's.
    private let mark = UInt8.random(in: 1...255)
    private let state = Mutex(State())

    private struct State {
        var descriptor: Descriptor?
        /// Whether this process has rung since it last checked the bell.
        var hasRung = false
        var isClosed = false
    }

    init(path: String, mode: mode_t) {
        self.path = path
        self.mode = mode
    }

    /// Creates the bell if it does not exist, so that it can be watched before its first ring.
    func create() {
        guard FileIdentity(path: path)?.size != 1 else { return }
        state.withLock { write(&$0) { _ in true } }
    }

    /// Rings if another process listens; a bell that can't be rung is not an error, because
    /// listeners also poll slowly.
    func ring() {
        state.withLock { write(&$0, if: \.isLockedByOthers) }
    }

    /// Makes others ring for this process from now on; called again in case the file was replaced.
    func listen() {
        // Without the lock, changes by others are noticed at most a second later.
        state.withLock { _ = opened(&$0)?.tryLock(F_RDLCK) }
    }

    /// Stops listening and ringing.
    func close() {
        state.withLock { ($0.isClosed, $0.descriptor) = (true, nil) }
    }

    /// The bell file that is at the path now.
    private func opened(_ state: inout State) -> Descriptor? {
        guard !state.isClosed else { return nil }
        if state.descriptor?.isStill(at: path) != true {
            state.descriptor = try? Descriptor.open(path, mode: mode)
        }
        return state.descriptor
    }

    private func write(_ state: inout State, if isWanted: (Descriptor) -> Bool) {
        guard let descriptor = opened(&state), isWanted(descriptor) else { return }
        var byte = mark
        pwrite(descriptor.raw, &byte, 1, 0)
        state.hasRung = true
    }

    /// Whether another process has rung last, or this one has not rung since the last call.
    ///
    /// If this process's ring has overwritten another's, nothing is lost: that ring came before a
    /// commit of this process, which saw the other one's commit.
    func wasRungByOthers() -> Bool {
        state.withLock { state in
            defer { state.hasRung = false }
            guard state.hasRung, let descriptor = state.descriptor else { return true }
            var byte: UInt8 = 0
            return pread(descriptor.raw, &byte, 1, 0) != 1 || byte != mark
        }
    }
}
