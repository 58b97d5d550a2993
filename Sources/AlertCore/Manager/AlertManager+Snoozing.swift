import FoundationEssentials

// Snoozing.
extension AlertManager {
    /// Snoozes an alert: afterwards it has its old position in the list again, and is shown in its
    /// account's next round.
    ///
    /// ```swift
    /// try await manager.snooze(42, for: .seconds(3600))
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert; if it is on a screen, it leaves the screen.
    ///   - duration: More than zero, at most 100 years; `nil` means the alert's own snooze time.
    /// - Returns: The record of the waiting alert, with ``AlertRecord/snoozedUntil``.
    /// - Throws: The errors of ``answer(_:button:by:seen:)``, and ``AlertError/invalid(_:_:)``.
    @discardableResult
    public func snooze(
        _ id: Alert.ID, for duration: Duration? = nil
    ) async throws(AlertError) -> AlertRecord {
        try await snooze(id, until: duration.map(Alert.Deadline.after))
    }

    /// Snoozes an alert until a date, which follows the wall clock when that is set.
    ///
    /// ```swift
    /// try await manager.snooze(42, until: Date(timeIntervalSinceNow: 86_400))
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert; if it is on a screen, it leaves the screen.
    ///   - date: In the future, at most 100 years away.
    /// - Returns: The record of the waiting alert, with ``AlertRecord/snoozedUntil``.
    /// - Throws: The errors of ``answer(_:button:by:seen:)``, and ``AlertError/invalid(_:_:)``.
    @discardableResult
    public func snooze(_ id: Alert.ID, until date: Date) async throws(AlertError) -> AlertRecord {
        try await snooze(id, until: .at(date))
    }

    private func snooze(
        _ id: Alert.ID, until end: Alert.Deadline?
    ) async throws(AlertError) -> AlertRecord {
        let record = try await store.snooze(id, until: end, by: context.caller)
        feed(.snoozed(id))
        return record
    }
}
