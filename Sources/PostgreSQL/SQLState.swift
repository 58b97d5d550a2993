/// A code of five characters that says why the server refused something: the first two are its
/// class.
///
/// See Appendix A, <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
package struct SQLState: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ code: String) { description = code }

    package static let insufficientPrivilege = SQLState("42501")

    /// What an error means for the transaction that it ended, and what can be done.
    package enum Meaning: Sendable, Hashable {
        /// Nothing was stored: the same transaction may succeed at once.
        case retry
        /// Nothing was stored: the server lacks something now, and may have it later.
        case tryLater
        /// Nothing was stored: it may succeed on another connection.
        case reconnect
        /// The session is over. If `COMMIT` had been sent, only a look at what is stored tells
        /// whether it was carried out.
        case lookUp
        /// Nothing was stored, and the same transaction would fail again.
        case giveUp
        /// Nothing was stored, and nothing will be until somebody lets the role in, or gives it a
        /// right.
        case notPermitted
        /// Nothing was stored, and nothing will be until somebody makes the database, the schema or
        /// the table that is named.
        case missing

        /// Whether trying again is useless, also on another connection.
        package var lasts: Bool {
            switch self {
            case .giveUp, .notPermitted, .missing: true
            case .retry, .tryLater, .reconnect, .lookUp: false
            }
        }
    }

    package var meaning: Meaning {
        Self.meanings[description] ?? Self.classes[String(description.prefix(2))] ?? .giveUp
    }

    /// The codes that mean something else than their class does, with their names in the
    /// appendix.
    static let meanings: [String: Meaning] = [
        // protocol_violation: PgBouncer's code for all that it reports itself.
        "08P01": .lookUp,
        // feature_not_supported: so a standby refuses BEGIN … READ WRITE. It may have been a
        // primary when the connection was made, if a pooler keeps that.
        "0A000": .reconnect,
        // read_only_sql_transaction: a standby, or a primary that has become one.
        "25006": .reconnect,
        // idle_in_transaction_session_timeout
        "25P03": .reconnect,
        // invalid_sql_statement_name: a prepared statement of a session that is gone.
        "26000": .reconnect,
        // serialization_failure
        "40001": .retry,
        // statement_completion_unknown
        "40003": .lookUp,
        // deadlock_detected
        "40P01": .retry,
        // insufficient_privilege
        "42501": .notPermitted,
        // undefined_table
        "42P01": .missing,
        // duplicate_prepared_statement: behind a pooler, another client's.
        "42P05": .reconnect,
        // object_in_use
        "55006": .retry,
        // lock_not_available: also when lock_timeout has passed.
        "55P03": .retry,
        // query_canceled: also when statement_timeout has passed.
        "57014": .tryLater,
        // admin_shutdown
        "57P01": .lookUp,
        // crash_shutdown
        "57P02": .lookUp,
        // cannot_connect_now
        "57P03": .tryLater,
        // idle_session_timeout
        "57P05": .reconnect,
    ]

    /// The classes whose codes don't mean ``Meaning/giveUp``.
    static let classes: [String: Meaning] = [
        // Connection exceptions.
        "08": .lookUp,
        // Invalid authorization: no such role, a wrong password, or pg_hba.conf refuses it.
        "28": .notPermitted,
        // Invalid catalog name: no such database.
        "3D": .missing,
        // Invalid schema name.
        "3F": .missing,
        // Transaction rollback.
        "40": .retry,
        // Insufficient resources: disk_full, out_of_memory, too_many_connections.
        "53": .tryLater,
        // System errors, which come from outside of the server: io_error.
        "58": .tryLater,
    ]
}
