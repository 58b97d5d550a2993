/// The right to run one alert's handler, or the claim of an asker that waits for the response.
package protocol HandlerTurn: Sendable {
    /// A file descriptor that extends the turn for as long as a child that inherits it runs; `nil`
    /// if the store has none.
    var descriptor: Int32? { get }
    func end()
}
