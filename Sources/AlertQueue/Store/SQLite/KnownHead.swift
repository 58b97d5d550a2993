import Synchronization

/// The newest audit entry that this process knows of; it only grows.
///
/// It tells where events go on from, and whether a file that took the database's place is the same
/// queue: only that has an entry with this number and this hash.
final class KnownHead: Sendable {
    private let newest = Mutex(AuditHead.start)

    var head: AuditHead { newest.withLock { $0 } }

    func raise(to head: AuditHead) {
        newest.withLock { if head.sequence > $0.sequence { $0 = head } }
    }
}
