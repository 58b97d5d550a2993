#if PostgreSQL
    import AlertCore
    import Linux
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
            let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            var (queue, hostName, notifies) = ("default", String?.none, true)
            var rest: [Substring] = []
            for parameter in parts.count > 1 ? parts[1].split(separator: "&") : [] {
                let pair = parameter.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let value = pair.count > 1 ? Self.decoded(pair[1]) : ""
                switch pair[0] {
                case "queue":
                    guard !value.isEmpty else { throw .invalid("queue", "has no name") }
                    queue = value
                case "host_name":
                    guard Self.isHostName(value) else {
                        throw .invalid("host_name", "is not the name of a machine")
                    }
                    hostName = value
                case "notify":
                    guard ["on", "off"].contains(value) else {
                        throw .invalid("notify", "is neither on nor off")
                    }
                    notifies = value == "on"
                default: rest.append(parameter)
                }
            }
            description = text.forOthers
            uri = String(parts[0]) + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
            (self.queue, self.hostName, self.notifies) = (queue, hostName, notifies)
        }

        /// The location for messages: without a password, and without a `host_name`.
        package let description: String

        /// The command that makes the tables and the queue.
        package var setUp: String {
            let quoted = description.replacing("'", with: "'\\''")
            return "alertq doctor --setup-postgresql --database '\(quoted)'"
        }

        /// Whether a text can be the name of a machine.
        private static func isHostName(_ text: String) -> Bool {
            !text.isEmpty && text.utf8.count <= 255 && SafeText.line(text).isIdentical(to: text)
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
#endif
