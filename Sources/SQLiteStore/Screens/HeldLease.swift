import AlertCore
import Linux
import Synchronization

/// The lease on an alert's response, which only one process at a time has.
///
/// It is an open-file-description lock on the byte at the alert's id (fcntl(2)); the file stays
/// empty, because a lock may be beyond its end.
final class HeldLease: AlertLease {
    private let held: Mutex<Descriptor?>
    private let range: LockRange

    /// Takes the lease on the response of an alert; `nil` if another holder has it.
    init?(of id: Alert.ID, in files: QueueFiles) throws(AlertError) {
        let file = try Descriptor.open(files.leases, mode: files.mode)
        range = LockRange(start: id, length: 1)
        guard try file.lock(range, of: files.leases), file.isStill(at: files.leases) else {
            return nil
        }
        held = Mutex(file)
    }

    var descriptor: Int32? { held.withLock { $0?.raw } }

    func end() {
        held.withLock { file in
            // A child may have inherited the descriptor, and its own children may still be running.
            file?.unlock(range)
            file = nil
        }
    }
}
