import AlertCore

/// Where services of a queue are.
///
/// * `unix:PATH`, or `unix:PATH,PATH`: sockets of this machine.
/// * `ssh://[USER@]HOST[:PORT][/PATH]`, or `ssh://A,B/PATH`: hosts, on which ssh(1) runs a service of
///   the account's own queue, or of the file that PATH names.
///
/// Several are tried in turn.
package struct ServiceLocation: Sendable, Hashable {
    /// One service.
    package enum Endpoint: Sendable, Hashable {
        /// The path of a socket.
        case socket(String)
        case host(Destination)
    }

    /// Where ssh(1) connects to.
    package struct Destination: Sendable, Hashable, CustomStringConvertible {
        let user: String?
        let host: String
        let port: UInt16?
        package let description: String
    }

    package static let socketScheme = "unix:"
    package static let hostScheme = "ssh://"
    package static let schemes = [socketScheme, hostScheme]

    package let endpoints: [Endpoint]
    /// The file that is wanted; `nil` for whatever is served there.
    package let database: String?

    /// - Throws: ``AlertError/invalid(_:_:)`` unless each socket has an absolute path, and each host
    ///   a name that ssh(1) can't take for anything else.
    package init(_ text: String) throws(AlertError) {
        if text.hasPrefix(Self.hostScheme) {
            let rest = text.dropFirst(Self.hostScheme.count)
            let hosts = rest.prefix { $0 != "/" }
            let path = rest.dropFirst(hosts.count)
            endpoints = try Self.list(hosts).map { host throws(AlertError) in
                guard let destination = Destination(host) else {
                    throw .invalid(
                        "location",
                        "names no host; write it as \(Self.hostScheme)USER@HOST/PATH, with other "
                            + "hosts that have the same queue after commas")
                }
                return .host(destination)
            }
            database = path.count > 1 ? String(path) : nil
        } else {
            endpoints = try Self.list(text.dropFirst(Self.socketScheme.count)).map {
                path throws(AlertError) in
                // A socket is the same one in every directory.
                guard path.hasPrefix("/") else {
                    throw .invalid(
                        "location",
                        "names no socket; write it as \(Self.socketScheme)/run/alertq/alertq.sock, "
                            + "with others that serve the same queue after commas")
                }
                return .socket(path)
            }
            database = nil
        }
    }

    private static func list(_ text: Substring) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Whether services are on other machines, whose accounts have other names and numbers.
    package var isElsewhere: Bool {
        endpoints.contains { if case .host = $0 { true } else { false } }
    }
}

extension ServiceLocation.Destination {
    /// Reads `[USER@]HOST[:PORT]`; `nil` for what is none, and for what a shell, or ssh's own
    /// configuration, could take for more than names.
    fileprivate init?(_ text: String) {
        // An address of IPv6 stands in brackets, RFC 3986 §3.2.2.
        let form = /(?:(\w[\w.-]*)@)?(?:(\w[\w.-]*)|\[([0-9A-Fa-f:.]+(?:%\w+)?)\])(?::(\d+))?/
            .asciiOnlyWordCharacters().asciiOnlyDigits()
        guard let parts = text.wholeMatch(of: form)?.output, let host = parts.2 ?? parts.3 else {
            return nil
        }
        let port = parts.4.map { UInt16($0) }
        if case .some(.none) = port { return nil }
        guard port != .some(0) else { return nil }
        user = parts.1.map(String.init)
        self.host = String(host)
        self.port = port ?? nil
        description = ServiceLocation.hostScheme + text
    }
}
