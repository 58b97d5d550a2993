/// An event that belongs in the log, but for which nobody waits.
package enum Note: Sendable {
    /// An alert appeared on a screen at this moment; the record is what was shown.
    case presented(AlertRecord, at: ClockReading)
    /// An alert left a screen without a result.
    case returned(AlertRecord, because: String)
    /// The asker has taken the response.
    case collected(Alert.ID)
}
