/// A change to a queue by a caller; it is on disk as a whole, or not at all.
///
/// It is a value: it can be sent, replayed against a model, and printed.
package enum Change: Sendable, Codable {
    /// Stores an alert, or finds the one that its key belongs to; see ``Question/Join``. If it
    /// replaces one that waits, it withdraws that as well.
    ///
    /// Throws ``AlertError/keyConflict(_:_:part:)``, ``AlertError/keyNotFound(_:)``,
    /// ``AlertError/tooManyPending(source:limit:)`` and
    /// ``AlertError/tooManyPendingOfPrincipal(_:limit:)`` among others.
    case ask(Question)
    /// Gives an alert its response; the first one wins. `seen` is the digest of what was shown,
    /// which must match what was asked. A withdrawal of orphans alone has no effect on an alert that
    /// is not orphaned.
    ///
    /// Throws ``AlertError/notFound(_:)``, ``AlertError/alreadyResolved(_:)``,
    /// ``AlertError/late(_:)``, ``AlertError/noSuchButton(_:button:known:)``,
    /// ``AlertError/notAsSeen(_:)`` and ``AlertError/notYours(_:owner:)`` among others.
    case resolve(Alert.ID, Resolution, seen: [UInt8]? = nil)
    /// Snoozes an alert; `nil` means the alert's own snooze time. A change that is late stores the
    /// expiry, and throws ``AlertError/late(_:)``, as an answer does.
    case snooze(Alert.ID, until: Alert.Deadline?)
    /// Says that the caller deals with an alert until a moment, or for ``AlertClaim/length``; it may
    /// take the claim of another principal by force.
    ///
    /// Throws ``AlertError/claimed(_:_:)`` if another principal has it, and the errors of a snooze.
    case claim(Alert.ID, until: Alert.Deadline?, isForced: Bool)
    /// Says that nobody deals with an alert any more; without a claim it has no effect.
    ///
    /// Throws as a claim does.
    case release(Alert.ID, isForced: Bool)
    /// Marks a response as taken by its asker; only the first time counts. The reason, if there is
    /// one, is why a response is taken without being used: the log says it.
    ///
    /// Throws ``AlertError/notYours(_:owner:)`` unless ``Caller/mayCollect(from:)``.
    case collect(Alert.ID, because: EntryReason? = nil)
    /// Records a step of the command that an answer allows to run.
    ///
    /// ``RunStep/started(allowsDefault:)`` takes effect once, for an answer that allows it and that
    /// nobody has collected, and marks it as collected; one that may no longer be used is collected
    /// for that (``Receipt/unused``). The other steps come after that.
    case run(Alert.ID, RunStep)
    /// Requests that the screen that shows an alert cancel it, because its delegate may handle
    /// that.
    ///
    /// Throws ``AlertError/notYours(_:owner:)`` among others.
    case requestCancel(Alert.ID, Resolution.Authority)

    /// What it does, for errors.
    package var operation: String {
        switch self {
        case .ask: "store the alert"
        case .resolve: "store the response"
        case .snooze: "store the snooze"
        case .claim: "store the claim"
        case .release: "store the release"
        case .collect: "mark the response as collected"
        case .run: "log the command"
        case .requestCancel: "store the cancel"
        }
    }
}
