extension AlertError {
    /// What kind of failure it is, for programs: the numbers are the command's exit codes.
    package enum Cause: Int32, Sendable {
        /// The alert has another response, the key another question, or what was seen differs.
        case conflict = 16
        /// The answer was given too long ago to be used.
        case stale = 18
        case badData = 65
        case notFound = 66
        /// A library of the system is missing.
        case unavailable = 69
        case inputOutput = 74
        case busy = 75
        case notPermitted = 77
    }

    package var cause: Cause {
        switch self {
        case .invalid, .inconsistent, .backup: .badData
        case .notFound, .keyNotFound, .unknownCursor, .noSuchButton, .missing: .notFound
        case .alreadyResolved, .late, .keyConflict, .notAsSeen, .claimed, .noChoice: .conflict
        case .stale: .stale
        case .tooManyPending, .tooManyPendingOfPrincipal, .busy, .unreachable, .cancelled: .busy
        case .missingLibrary: .unavailable
        case .incompatible, .storage, .damaged, .detached, .closed: .inputOutput
        case .notPermitted, .notYours: .notPermitted
        }
    }
}
