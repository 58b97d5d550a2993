/// A claim of a process on one alert, for a ``ClaimPurpose``; it ends with the process at the latest.
package protocol Claim: Sendable {
    /// A file descriptor that extends the claim for as long as a child that inherits it runs; `nil`
    /// if the store has none.
    var descriptor: Int32? { get }
    /// Ends the claim, which otherwise ends with the process.
    func end()
}

/// What a claim on an alert is for.
package enum ClaimPurpose: Sendable, Hashable, Codable {
    /// The sole right to its response: that of its handler while it runs, or of an asker that takes
    /// the response.
    case handling
    /// To wait for its response, which any number of calls may do at once: it gives no right, and
    /// tells others that somebody waits.
    case waiting
}
