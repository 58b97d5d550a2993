import AlertCore
import Glibc
import Linux
import Synchronization

/// The alerts for which calls of one store wait, as other processes can see them.
///
/// Each of them is a shared open-file-description lock on a byte of the leases' file (fcntl(2)), far
/// after the bytes of ``HeldLease``. A process may wait for thousands of alerts, so they share one
/// descriptor; such locks belong to it, not to a call, hence the counts.
final class WaitingLeases: Sendable {
    private struct State {
        var file: Descriptor?
        /// How many calls wait for each alert.
        var counts: [Alert.ID: Int] = [:]
        var isClosed = false
    }

    private let files: QueueFiles
    private let state = Mutex(State())

    init(files: QueueFiles) { self.files = files }

    /// The byte for an alert; the result is never beyond the largest offset.
    private static func range(of id: Alert.ID) -> LockRange {
        LockRange(start: id | 1 << 62, length: 1)
    }

    /// Opens the file, which is created if it is missing, so that leases can be taken.
    func prepare() throws(AlertError) {
        try state.withLock { state throws(AlertError) in
            guard !state.isClosed else { throw .closed }
            if state.file == nil { _ = try open(&state) }
        }
    }

    /// Says that a call waits for an alert, until the lease is ended.
    func lease(_ id: Alert.ID) throws(AlertError) -> any AlertLease {
        try state.withLock { state throws(AlertError) in
            guard !state.isClosed else { throw .closed }
            guard try open(&state).tryLock(F_RDLCK, Self.range(of: id)) else {
                throw SystemError.current("lock", files.leases)
            }
            state.counts[id, default: 0] += 1
        }
        return ClosureLease { [self] in end(id) }
    }

    /// Takes the leases again if their file was deleted or replaced: others look at the one that is
    /// at its path.
    func renew() {
        state.withLock { state in
            // Whoever can't open it can't take a lease either, and tries again a second later.
            if !state.counts.isEmpty { _ = try? open(&state) }
        }
    }

    private func end(_ id: Alert.ID) {
        state.withLock { state in
            guard let count = state.counts[id] else { return }
            state.counts[id] = count > 1 ? count - 1 : nil
            if count == 1 { state.file?.unlock(Self.range(of: id)) }
        }
    }

    /// Ends all leases.
    func close() {
        state.withLock { state in
            // A program that is being started has a copy of the descriptor for a moment.
            if !state.counts.isEmpty { state.file?.unlock(.wholeFile) }
            state.file = nil
            state.counts = [:]
            state.isClosed = true
        }
    }

    private func open(_ state: inout State) throws(AlertError) -> Descriptor {
        if let file = state.file, file.isStill(at: files.leases) { return file }
        let file = try Descriptor.open(files.leases, mode: files.mode)
        for id in state.counts.keys { _ = file.tryLock(F_RDLCK, Self.range(of: id)) }
        state.file = file
        return file
    }

    /// Those of some alerts for which no call of any process waits, as far as that is known.
    static func unawaited(among ids: [Alert.ID], in files: QueueFiles) -> [Alert.ID] {
        guard !ids.isEmpty else { return [] }
        // With a descriptor of its own: a store does not see its own locks through the one that has
        // them. To look at locks, reading is enough.
        errno = 0
        guard let file = Descriptor.openForReading(files.leases) else {
            // Whoever waits has the file open. One that can't be opened tells nothing.
            return errno == ENOENT ? ids : []
        }
        return ids.filter { file.isLockedByOthers(range(of: $0)) == false }
    }
}
