import AlertCore

/// Where services of a queue are: `unix:PATH`, or `unix:PATH,PATH`, which are tried in turn.
package struct ServiceLocation: Sendable, Hashable {
    package static let scheme = "unix:"

    /// The sockets.
    package let paths: [String]

    /// - Throws: ``AlertError/invalid(_:_:)`` unless each socket has an absolute path.
    package init(_ text: String) throws(AlertError) {
        paths = text.dropFirst(Self.scheme.count).split(
            separator: ",", omittingEmptySubsequences: false
        ).map(String.init)
        // A socket is the same one in every directory.
        guard paths.allSatisfy({ $0.hasPrefix("/") }) else {
            throw .invalid(
                "location",
                "names no socket; write it as \(Self.scheme)/run/alertq/alertq.sock, with others "
                    + "that serve the same queue after commas")
        }
    }
}
