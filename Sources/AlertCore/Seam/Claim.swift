/// The sole right to the response of one alert: that of its handler while it runs, or of an asker
/// that waits for it.
package protocol Claim: Sendable {
    /// A file descriptor that extends the claim for as long as a child that inherits it runs; `nil`
    /// if the store has none.
    var descriptor: Int32? { get }
    /// Ends the claim, which otherwise ends with the process.
    func end()
}
