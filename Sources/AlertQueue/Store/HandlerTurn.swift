/// Some responses that nobody has collected.
package struct UncollectedPage: Sendable {
    package var records: [AlertRecord]
    /// The place behind which to look on.
    package var place: Int64
    /// Whether there was nothing more when it was read.
    package var isEnd: Bool
}

/// The right to run one alert's handler, or the claim of an asker that waits for its response.
package protocol HandlerTurn: Sendable {
    /// A file descriptor that makes the turn last for as long as a child that inherits it; `nil`
    /// where a store has none.
    var descriptor: Int32? { get }
    func end()
}
