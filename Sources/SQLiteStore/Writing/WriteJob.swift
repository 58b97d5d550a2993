import AlertCore
import SQLite
import Synchronization

/// One member of a write transaction.
final class WriteJob: Sendable {
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
    /// Whether the next process will do it just as well: a store that closes does not wait for it.
    let isOptional: Bool
    /// What it does, as the object of "can't".
    let operation: String
    let enqueued = ContinuousClock.now
    /// Runs in the transaction, and once more if the transaction has to be repeated.
    let work: @Sendable (WriteContext) throws -> Void
    /// Hears what became of it, after the commit.
    let finish: @Sendable (AlertError?) -> Void
    /// Runs after the commit, outside of a transaction and still under the writer lock.
    let afterCommit: (@Sendable (Writer) throws -> Void)?

    init(
        kind: Kind, isOptional: Bool = false, operation: String,
        work: @escaping @Sendable (WriteContext) throws -> Void,
        finish: @escaping @Sendable (AlertError?) -> Void = { _ in },
        afterCommit: (@Sendable (Writer) throws -> Void)? = nil
    ) {
        self.kind = kind
        self.isOptional = isOptional
        self.operation = operation
        self.work = work
        self.finish = finish
        self.afterCommit = afterCommit
    }
}
