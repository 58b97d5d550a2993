import AlertCore
import Linux
import PostgreSQL
import TextFormats

/// Where a queue in PostgreSQL is: a URI for libpq, whose query may also have `queue`, `host_name`
/// and `notify`.
///
/// For example: `postgresql://db1,db2/alerts?queue=backup&notify=off`.
package struct PostgreSQLLocation: Sendable {
    /// The URI as libpq takes it.
    let uri: String
    /// The name of the queue in the database.
    package let queue: String
    /// The machine whose accounts this process acts for; `nil` for this one's name.
    package let hostName: String?
    /// The name of the machine whose accounts this process acts for.
    package var ownHost: String { hostName ?? ProcessIdentity.current.host }
    /// Whether the server tells of changes, which a pooler in transaction mode can't.
    let notifies: Bool
    /// Whether connections go through a pooler in transaction mode, where a session has no names.
    var isPooled: Bool { !notifies }

    /// - Throws: ``AlertError/invalid(_:_:)`` for a parameter of ours with a value that it can't
    ///   have.
    package init(_ text: String) throws(AlertError) {
        let place = text[text.hostStart...].prefix { $0 != "?" }
        var (queue, hostName, notifies) = ("default", String?.none, true)
        var rest: [Substring] = []
        for parameter in text[place.endIndex...].dropFirst().split(separator: "&") {
            let pair = parameter.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count > 1 ? Self.decoded(pair[1]) : ""
            switch pair[0] {
            case "queue":
                guard !value.isEmpty else {
                    throw Self.invalid("queue", "is empty", "queue=NAME")
                }
                queue = value
            case "host_name":
                guard Account.isHost(value) else {
                    throw Self.invalid(
                        "host_name",
                        "is not the name of a machine, which has at most 255 bytes, and no "
                            + "spaces, @ or control characters",
                        "host_name=NAME")
                }
                hostName = value
            case "notify":
                guard ["on", "off"].contains(value) else {
                    throw Self.invalid("notify", "is neither on nor off", "notify=off")
                }
                notifies = value == "on"
            default: rest.append(parameter)
            }
        }
        description = text.forOthers
        uri =
            String(text[..<place.endIndex])
            + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
        (self.queue, self.hostName, self.notifies) = (queue, hostName, notifies)
    }

    private static func invalid(
        _ name: String, _ reason: String, _ example: String
    ) -> AlertError {
        .invalid(
            "parameter \(name) of the location",
            "\(reason); write ?\(example), or leave it out")
    }

    /// Makes sure that libpq takes the URI.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``, with nothing of the location but names of
    ///   parameters.
    package func check() throws(AlertError) {
        // What libpq would take for a part of the host or the database may be one of a password.
        guard !uri[uri.hostStart...].prefix(while: { $0 != "?" }).contains("@") else {
            throw .invalid(
                "location", "has an @ that is not escaped; \(ConnectionString.escaping)")
        }
        if let problem = ConnectionString.problem(in: uri) {
            throw .invalid("location", problem)
        }
    }

    /// The location for messages: without a password, and without a `host_name`.
    package let description: String

    /// Connects, as the location asks for it, to a session that finds the tables of a queue by their
    /// names, and nothing else that somebody has made.
    func connect(
        within limit: Duration = .seconds(10), interruption: Interruption? = nil
    ) throws(PostgreSQLError) -> Connection {
        let db = try Connection(
            uri, within: limit, preparation: isPooled ? .unnamed : .named,
            interruption: interruption)
        // A session of a pooler is anybody's.
        if isPooled {
            db.settings = Self.settings(isLocal: true)
        } else {
            try db.run(Self.settings(isLocal: false))
        }
        return db
    }

    /// Has names looked for among those of PostgreSQL itself first, then among the queue's own, and
    /// among temporary ones last; see
    /// <https://www.postgresql.org/docs/current/ddl-schemas.html#DDL-SCHEMAS-PATH>.
    ///
    /// A warning is all that tells of a commit that no standby has confirmed.
    private static func settings(isLocal: Bool) -> Statement {
        Statement(
            """
            SELECT pg_catalog.set_config('search_path', 'pg_catalog, alertq, pg_temp', \(isLocal)),
                pg_catalog.set_config('client_min_messages', 'warning', \(isLocal))
            """
        )
    }

    /// The command that makes the tables and the queue.
    package var setUp: String {
        "alertq doctor --setup-postgresql --database " + ShellText.quoted(description)
    }

    /// A value of a query without its percent signs; see RFC 3986 §2.1.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"),
                let code = Hex.bytes(String(decoding: rest.prefix(2), as: UTF8.self))
            {
                bytes += code
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
