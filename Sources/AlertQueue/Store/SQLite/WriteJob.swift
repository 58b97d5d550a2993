import SQLite
import Synchronization

/// One member of a write transaction.
struct WriteJob: Sendable {
    /// What the member may still do when space runs out.
    enum Kind: Sendable {
        /// A new alert: refused first.
        case ask
        /// An answer or a withdrawal: takes even the reserve.
        case answer
        /// Anything else.
        case upkeep
    }

    let kind: Kind
    /// What it does, as the object of "can't".
    let operation: String
    let enqueued = ContinuousClock.now
    /// Runs in the transaction, and once more if the transaction has to be repeated.
    let work: @Sendable (WriteContext) throws -> Void
    /// Hears what became of it, after the commit.
    let finish: @Sendable (AlertError?) -> Void
}

/// What a member of a write transaction works with. It never leaves the writer's thread.
final class WriteContext {
    let db: Database
    /// The same moment for all members of one transaction.
    let now: ClockReading
    /// The end of the audit log, as it grows within the transaction.
    var head: AuditHead

    init(db: Database, now: ClockReading) throws {
        self.db = db
        self.now = now
        head = try db.lastHead()
    }
}

/// A result that the writer's thread puts down and a task picks up.
final class ResultBox<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func put(_ value: Value) { self.value.withLock { $0 = value } }
    func take() -> Value? { value.withLock { $0 } }
}
