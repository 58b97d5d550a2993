import AlertQueue

extension AlertRecord {
    /// Whether its deadline is before the end of its snooze.
    var expiresBeforeSnoozeEnds: Bool {
        guard let expiresAt, let snoozedUntil else { return false }
        return expiresAt < snoozedUntil
    }
}
