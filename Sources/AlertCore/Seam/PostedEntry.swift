/// An event that belongs in the log, but for which nobody waits.
package enum PostedEntry: Sendable, Codable {
    /// An alert is on a screen now; the record is what is shown.
    case presented(AlertRecord)
    /// An alert left a screen without a result.
    case returned(AlertRecord, because: EntryDetail.Return)
    /// The asker has taken the response.
    case collected(Alert.ID)
}
