/// A screen that is attached to a queue, until it is released or its process ends.
package protocol ScreenLease: Sendable {
    /// Tries to become the leading screen; returns whether it leads now. If so, the alert that it
    /// shows stays the current alert.
    nonisolated(nonsending) func lead() async -> Bool
    /// Whether it leads, as seen by other screens.
    var isLeading: Bool { get }
    /// The other screens, at most a second old, without a leader if this screen leads; `nil` while
    /// this one can't be attached.
    var others: ScreenRoster? { get }
    /// Returns the other screens as they are now.
    nonisolated(nonsending) func lookAtOthers() async -> ScreenRoster?
    /// A number that grows when the screens may have changed.
    var changeCount: UInt64 { get }
    /// Waits until ``changeCount`` differs from a number, for at most a second.
    nonisolated(nonsending) func waitForChange(after count: UInt64) async
    /// Announces which alert is on this screen, which one is current if this screen leads, and
    /// whether a delegate may handle its cancel; `false` if it can't be announced.
    nonisolated(nonsending) func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool
    ) async -> Bool
    /// Announces which presenters can show something now, and whether another queue's alert
    /// prevents them from doing so.
    func offer(_ presenters: [String], isBusy: Bool)
    /// Stops leading, but stays attached.
    func stepBack()
    /// Ends the attachment.
    func release()
}
