import CPostgreSQL
import Linux

/// An error or a notice of the server; see
/// <https://www.postgresql.org/docs/current/protocol-error-fields.html>.
package struct ServerMessage: Sendable, Hashable {
    /// `ERROR`, `FATAL`, `PANIC`, `WARNING`, `NOTICE`, …, in English.
    package let severity: String
    package let state: SQLState
    package let message: String
    package let detail: String?
    /// The constraint or index that was violated.
    package let constraint: String?

    /// Reads the fields of a result; `nil` if libpq made it up, because the connection is lost.
    init?(_ result: OpaquePointer, of lib: LibPQ) {
        func field(_ code: Int32) -> String? {
            lib.pq.PQresultErrorField(result, code).map { String(cString: $0) }
        }
        guard let state = field(cpostgresql_sqlstate) else { return nil }
        self.state = SQLState(state)
        // A pooler may send only the one that servers translate.
        severity =
            field(cpostgresql_severity) ?? field(cpostgresql_localized_severity) ?? "ERROR"
        message = field(cpostgresql_message) ?? ""
        detail = field(cpostgresql_detail)
        constraint = field(cpostgresql_constraint)
    }

    /// Whether the server has ended the session.
    package var endsSession: Bool { severity == "FATAL" || severity == "PANIC" }
}

/// A failure of a statement, of a connection, or of the attempt to make one.
///
/// It never contains bound values, except for those that the server quotes in its message.
package struct PostgreSQLError: Error, Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// The server, or a pooler before it, answered with an error.
        case server(ServerMessage)
        /// No host let us in; a reason for each.
        case unreachable(String)
        /// Each host has answered that it doesn't let us in; the code of the last one, and the
        /// reason of each.
        case rejected(SQLState, String)
        /// The connection broke.
        case lost(String)
        /// The server did not answer in time.
        case timedOut
        /// Another thread ended the wait.
        case interrupted
        /// Nothing was sent: the request itself can't be right.
        case refused(String)
        /// libpq can't be loaded.
        case noLibrary(MissingLibrary)
    }

    package let cause: Cause
    /// The statement that failed, or what was attempted instead.
    package let operation: String

    package init(_ cause: Cause, _ operation: String) {
        (self.cause, self.operation) = (cause, operation)
    }

    package var server: ServerMessage? {
        if case .server(let message) = cause { message } else { nil }
    }

    /// The server's code; `nil` if it did not answer.
    package var state: SQLState? {
        if case .rejected(let state, _) = cause { state } else { server?.state }
    }

    /// Whether the connection can't be used any longer.
    package var isConnectionLost: Bool {
        switch cause {
        case .server(let message): message.endsSession
        case .unreachable, .rejected, .lost, .timedOut, .interrupted: true
        case .refused, .noLibrary: false
        }
    }

    /// Whether it was the end of a session that had begun, and not of the time that it was given.
    package var isSessionLost: Bool {
        switch cause {
        case .server(let message): message.endsSession
        case .lost: true
        case .unreachable, .rejected, .timedOut, .interrupted, .refused, .noLibrary: false
        }
    }

    /// What can be done about it.
    package var meaning: SQLState.Meaning {
        switch cause {
        case .server(let message):
            let meaning = message.state.meaning
            // Nothing can be tried again in a session that has ended.
            let needsSession = meaning == .retry || meaning.lasts
            return message.endsSession && needsSession ? .lookUp : meaning
        case .rejected(let state, _): return state.meaning
        case .unreachable: return .tryLater
        case .lost, .timedOut, .interrupted: return .lookUp
        case .refused, .noLibrary: return .giveUp
        }
    }
}

extension PostgreSQLError: CustomStringConvertible {
    package var description: String {
        switch cause {
        case .server(let message): "\(message.message) (SQLSTATE \(message.state))"
        case .unreachable(let reason), .rejected(_, let reason), .lost(let reason),
            .refused(let reason):
            reason
        case .noLibrary(let library): "\(library)"
        case .timedOut: "the server did not answer in time"
        case .interrupted: "interrupted"
        }
    }
}
