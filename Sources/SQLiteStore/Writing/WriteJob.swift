import AlertCore
import SQLite
import Synchronization

/// One member of a write transaction.
final class WriteJob: Sendable {
    /// The member's priority when space runs out.
    enum Kind: Sendable {
        /// A new alert: refused first.
        case ask
        /// An answer or a withdrawal: may even use the reserve.
        case answer
        /// Anything else.
        case upkeep
    }

    let kind: Kind
    /// Whether the next process can do it just as well: a closing store does not wait for it.
    let isOptional: Bool
    /// Whether a deferred write may be left for the next answer.
    let isPatient: Bool
    /// Its description, as the object of "can't".
    let operation: String
    let enqueued = ContinuousClock.now
    /// Runs in the transaction, and again if the transaction must be repeated.
    let work: @Sendable (WriteContext) throws -> Void
    /// Called with the result after the commit.
    let finish: @Sendable (AlertError?) -> Void
    /// Runs after the commit, outside of a transaction and still under the writer lock.
    let afterCommit: (@Sendable (Writer) throws -> Void)?

    init(
        kind: Kind, isOptional: Bool = false, isPatient: Bool = false, operation: String,
        work: @escaping @Sendable (WriteContext) throws -> Void,
        finish: @escaping @Sendable (AlertError?) -> Void = { _ in },
        afterCommit: (@Sendable (Writer) throws -> Void)? = nil
    ) {
        self.kind = kind
        self.isOptional = isOptional
        self.isPatient = isPatient
        self.operation = operation
        self.work = work
        self.finish = finish
        self.afterCommit = afterCommit
    }
}
