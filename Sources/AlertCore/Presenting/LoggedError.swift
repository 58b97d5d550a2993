import TextFormats

/// An error that says by itself what the log may keep of it for ever: what failed and why, and no
/// text of an alert, nothing that anybody typed, and nothing that another program wrote.
package protocol LoggedError: Error {
    var logged: String { get }
}

extension LoggedError {
    package var logged: String { SafeText.line("\(self)") }
}

extension EntryDetail.Return {
    /// Why a presenter has failed; of errors of other programs' presenters, only their type is known
    /// to be harmless.
    static func failed(_ error: any Error) -> EntryDetail.Return {
        .failed(
            (error as? any LoggedError)?.logged ?? "the presenter failed: \(type(of: error))")
    }
}

extension AlertError: LoggedError {
    package var logged: String {
        switch self {
        case .notAsSeen, .busy, .unreachable, .cancelled, .incompatible, .missing,
            .missingLibrary, .backup, .inconsistent, .storage, .damaged, .notPermitted, .detached,
            .closed, .notFound:
            SafeText.line("\(self)")
        case .invalid, .noSuchButton: "the choice was not one that the alert offers"
        case .keyNotFound, .unknownCursor, .alreadyResolved, .late, .keyConflict, .claimed,
            .noChoice, .stale, .tooManyPending, .tooManyPendingOfPrincipal, .notYours:
            "the queue refused it"
        }
    }
}
