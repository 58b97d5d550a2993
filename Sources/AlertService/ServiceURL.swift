import FoundationEssentials

/// The address at which people and programs reach a service, such as that of a proxy in front of it.
package struct ServiceURL: Sendable, Hashable {
    /// As it was given, without a slash at its end.
    package let text: String
    /// The host, with its port if that isn't the scheme's own, as a browser names it in `Origin`.
    private let authority: String
    private let scheme: String
    private let port: Int?

    private static let ports = ["http": 80, "https": 443]

    /// Reads `https://HOST[:PORT][/PATH]`; with `http`, only names of this machine. `nil` for anything
    /// else.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), parts.user == nil, parts.password == nil,
            parts.query == nil, parts.fragment == nil,
            let scheme = parts.scheme?.lowercased(), let own = Self.ports[scheme],
            let host = parts.host?.lowercased(), !host.isEmpty,
            scheme == "https" || APIServer.isLoopback(host)
        else { return nil }
        self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
        self.scheme = scheme
        port = parts.port.flatMap { $0 == own ? nil : $0 }
        authority = host + (port.map { ":\($0)" } ?? "")
    }

    /// Whether a `Host` field names it; see RFC 9110 §7.2.
    func isHost(_ host: String) -> Bool {
        let host = host.lowercased()
        return host == authority || port == nil && host == "\(authority):\(Self.ports[scheme] ?? 0)"
    }

    /// What a browser says in `Origin` for its pages; see RFC 6454.
    var origin: String { "\(scheme)://\(authority)" }
}
