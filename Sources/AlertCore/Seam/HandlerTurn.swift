/// The right to run one alert's handler, or the claim of an asker that waits for its response.
package protocol HandlerTurn: Sendable {
    /// A file descriptor that makes the turn last for as long as a child that inherits it; `nil`
    /// where a store has none.
    var descriptor: Int32? { get }
    func end()
}
