import FoundationEssentials
import TextFormats

/// An error that a caller caused, or a failure in the layers below.
///
/// Each description is a sentence that says what went wrong, with which alert or file, and, if
/// useful, what to do.
public enum AlertError: Error, Sendable, Equatable, Codable {
    /// A part of an alert, or an argument, breaks a rule; nothing was stored.
    case invalid(_ part: String, _ reason: String)
    /// No alert has this id.
    case notFound(Alert.ID)
    /// No alert of this source has this key.
    case keyNotFound(String)
    /// The audit log doesn't have the entry to continue after: it ends before it, or has another one
    /// of that number.
    case unknownCursor(AuditHead, end: Int64)
    /// The alert has no such button.
    case noSuchButton(Alert.ID, button: String, known: [String])
    /// The alert was already resolved, with this response. The attempt changed nothing.
    indirect case alreadyResolved(Response)
    /// The deadline had passed when the answer arrived; the answer was refused.
    indirect case late(Response)
    /// The alert does not match the digest of what was seen; nothing was stored.
    case notAsSeen(Alert.ID)
    /// Somebody else has said that they deal with the alert, and still do.
    indirect case claimed(Alert.ID, AlertClaim)
    /// The key belongs to an alert with different content; the part is the first that differs.
    case keyConflict(String, Alert.ID, part: String)
    /// Nobody chose: the alert was cancelled, dismissed, withdrawn, or expired without a default.
    indirect case noChoice(Response)
    /// The answer was given too long ago to be used: the question had allowed it to be valid for that
    /// long. It is marked as collected, and stays in the history.
    indirect case stale(Response, validFor: Duration)
    /// Too many alerts of one source are already waiting, by default 10,000; nothing was stored.
    case tooManyPending(source: String, limit: Int)
    /// Too many alerts of one account or person, across all its sources, are already waiting, by
    /// default 100,000.
    case tooManyPendingOfPrincipal(Principal, limit: Int)
    /// The queue is in use, or its log can't be emptied right now; nothing was stored, try again.
    case busy(_ reason: String)
    /// The server of the queue can't be reached, or was lost; nothing was stored, try again.
    ///
    /// Calls that wait for the response to a stored alert don't end with it: they wait until the server
    /// is back.
    case unreachable(_ reason: String)
    /// The call's task was cancelled before the call was done.
    case cancelled(_ operation: String)
    /// The database is not an alert queue, comes from a newer version, or is no longer the one that
    /// was opened; it was not touched.
    case incompatible(path: String, _ reason: String)
    /// There is no queue at a location on a server; the reason says what is missing, and how to make it.
    case missing(location: String, _ reason: String)
    /// A library of the system that this kind of queue needs can't be loaded; the reason names its
    /// package.
    case missingLibrary(_ reason: String)
    /// The database is a backup, which can be read and restored but not changed; the reason says
    /// where its log ends.
    case backup(path: String, _ reason: String?)
    /// An alert differs from the audit log, or the schema from this version's; none of it was
    /// returned, and nothing was stored.
    case inconsistent(Alert.ID?, _ reason: String)
    /// The disk or the database failed.
    case storage(operation: String, _ reason: String)
    /// The database has contents that can't be right; restore a backup.
    case damaged(operation: String, _ reason: String)
    /// Another account or person asked the alert; only that one, and root of its machine, may collect
    /// its response, or withdraw or cancel it unless forced.
    case notYours(Alert.ID, owner: Principal)
    /// This process may not read or write the files of the queue, or its role may not use the
    /// database.
    case notPermitted(path: String, _ reason: String)
    /// The screen is no longer attached to the queue; nothing was stored.
    case detached
    /// The manager has been closed.
    case closed
}

extension AlertError {
    /// The error for a record whose answer is stale.
    package static func stale(_ record: AlertRecord) -> AlertError {
        guard let response = record.response else { return .notFound(record.id) }
        return .stale(response, validFor: record.alert.validFor ?? .zero)
    }
}

extension AlertError: CustomStringConvertible {
    /// A sentence for a person, without a capital letter and a full stop.
    public var description: String {
        switch self {
        case .invalid(let part, let reason):
            "the \(part) \(reason)"
        case .notFound(let id):
            "there is no alert \(id)"
        case .keyNotFound(let key):
            "there is no alert with the key “\(key)”"
        case .unknownCursor(let cursor, let end) where cursor.sequence > end:
            "there is no entry \(cursor.sequence) to continue after: "
                + (end > 0 ? "the log ends with entry \(end)" : "the log is empty")
        case .unknownCursor(let cursor, _):
            "entry \(cursor.sequence) of the log is not the one of \(cursor.text): the queue was "
                + "restored from a backup, or the log was rewritten"
        case .noSuchButton(let id, let button, let known):
            known.isEmpty
                ? "alert \(id) has no buttons, so it can't be answered “\(button)”"
                : "alert \(id) has no button “\(button)”; it has: \(known.joined(separator: ", "))"
        case .alreadyResolved(let response):
            "alert \(response.alertID) has already ended: \(response.summary)"
        case .late(let response):
            "alert \(response.alertID) can no longer be answered: \(response.summary)"
        case .notAsSeen(let id):
            "alert \(id) does not match the digest of what was seen; show it again, and answer that"
        case .claimed(let id, let claim):
            "alert \(id) is claimed by \(claim.by.principal.named.label) until "
                + LocalTime.text(claim.until, .whole) + "; use force to override that"
        case .keyConflict(let key, let id, let part):
            "the key “\(key)” belongs to alert \(id), which has another \(part); "
                + "a new question needs a new key"
        case .noChoice(let response):
            "alert \(response.alertID) ended without a choice: \(response.summary)"
        case .stale(let response, let length):
            "the answer to alert \(response.alertID) is stale: it was valid for "
                + "\(LengthText.text(length)): \(response.summary)"
        case .tooManyPending(let source, let limit):
            "\(limit) alerts of “\(source)” are already waiting; answer or withdraw some first"
        case .tooManyPendingOfPrincipal(let principal, let limit):
            "\(limit) alerts of \(principal.named.label) are already waiting, "
                + "from all its sources together; answer or withdraw some first"
        case .busy(let reason):
            reason
        case .unreachable(let reason):
            "the server of the queue \(reason)"
        case .cancelled(let operation):
            "\(operation) was cancelled"
        case .incompatible(let path, let reason):
            "\(path) \(reason)"
        case .missing(let location, let reason):
            "there is no queue at \(location): \(reason)"
        case .missingLibrary(let reason):
            "a queue on a server \(reason)"
        case .backup(let path, let reason):
            "\(path) is a backup\(reason.map { ": \($0)" } ?? ""). It can be read, but nothing can "
                + "be asked or answered in it; to make it a queue: alertq restore "
                + ShellText.quoted(path)
        case .inconsistent(let id, let reason):
            (id.map { "alert \($0) can't be trusted: " } ?? "the queue can't be trusted: ") + reason
                + "; nothing was returned or stored. Run "
                + (id == nil ? "`alertq doctor`" : "`alertq audit verify`")
                + ", and find out who can write to the database"
        case .storage(let operation, let reason):
            "can't \(operation): \(reason)"
        case .damaged(let operation, let reason):
            "can't \(operation): the database is damaged: \(reason)"
        case .notPermitted(let path, let reason):
            "not permitted: \(path): \(reason)"
        case .notYours(let id, let owner):
            "alert \(id) was asked by \(owner.named.label): only that "
                + (owner.account == nil ? "person" : "account") + " and root"
                + (owner.host.isEmpty ? "" : " of \(owner.host)")
                + " may collect its response, or withdraw or cancel it without force"
        case .detached:
            "this screen is no longer attached to the queue, and nothing was stored"
        case .closed:
            "the alert manager has been closed"
        }
    }
}

extension AlertError {
    /// The error of everything that would write to a queue that goes on elsewhere.
    package static func moved(_ path: String, to place: String) -> AlertError {
        .incompatible(
            path: path, "has moved to \(SafeText.line(place)), where its alerts go on; use that")
    }

    /// Why nothing can be written through a store that was opened for reading.
    package static func openedForReading(_ place: String) -> AlertError {
        .notPermitted(path: place, "it was opened for reading, and nothing is written to it")
    }

    /// Whether the same call may succeed later: the queue is locked, the disk fails, or the server is
    /// away.
    package var mayPass: Bool {
        switch self {
        case .busy, .storage, .unreachable: true
        default: false
        }
    }

    /// Whether the server of the queue is away.
    package var isServerAway: Bool {
        if case .unreachable = self { true } else { false }
    }
}

extension AlertError: LocalizedError {
    /// The same as ``description``, for Foundation.
    public var errorDescription: String? { description }
}
