import AlertCore
import SQL

/// One member of a write transaction.
package final class WriteJob: Sendable {
    package typealias Reading = @Sendable (Query) -> [Statement]
    package typealias Work = @Sendable (_ context: AnyObject) throws -> Void
    package typealias AfterCommit = @Sendable (_ writer: AnyObject) throws -> Void
    package typealias Finish = @Sendable (AlertError?) -> Void

    package let kind: WriteKind
    /// Its description, as the object of "can't".
    package let operation: String
    /// Whether the next process can do it just as well: a closing store does not wait for it.
    package let isOptional: Bool
    /// Whether it is an asker's, who has nothing better to do than to wait for a server.
    package let isOfAsker: Bool
    package let enqueued = ContinuousClock.now
    /// What the work will read, so that a server can be asked for it together with the lock.
    package let reading: Reading
    /// Runs in the transaction, and again if the transaction must be repeated. What it gets is its
    /// engine's.
    package let work: Work
    /// Called in the end: after the commit, or with the reason why nothing of it is stored.
    package let finish: Finish
    /// Runs after the commit, outside of a transaction, before the next one, with what the engine
    /// writes with.
    package let afterCommit: AfterCommit?

    package init(
        kind: WriteKind, operation: String, isOptional: Bool = false, isOfAsker: Bool = false,
        reading: @escaping Reading = { _ in [] }, finish: @escaping Finish = { _ in },
        afterCommit: AfterCommit? = nil, work: @escaping Work
    ) {
        (self.kind, self.operation) = (kind, operation)
        (self.isOptional, self.isOfAsker) = (isOptional, isOfAsker)
        (self.reading, self.work) = (reading, work)
        (self.finish, self.afterCommit) = (finish, afterCommit)
    }
}

/// What a write is for, which decides about it when space runs out or nothing can be written.
package enum WriteKind: Sendable {
    /// A new alert: refused first.
    case ask
    /// An answer, a withdrawal, a cancel and the request for one, or what becomes of a response: may
    /// even use the reserve.
    case answer
    /// An answer by policy: as an answer, but without the reserve.
    case expiry
    /// Anything else for which a caller waits.
    case upkeep
    /// Something for which nobody waits: it is tried again later.
    case posted

    /// The kind of a job that makes changes: what is refused first decides.
    package init(of changes: [Change]) {
        self = .answer
        for change in changes {
            if case .ask = change { self = .ask }
            switch change {
            case .snooze, .claim, .release: if self == .answer { self = .upkeep }
            default: break
            }
        }
    }
}
