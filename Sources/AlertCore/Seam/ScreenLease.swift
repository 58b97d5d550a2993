/// A screen that is attached to a queue, until it is released or its process ends.
package protocol ScreenLease: Sendable {
    /// Tries to become the screen that leads; returns whether it does now. What it shows stays the
    /// current alert then.
    nonisolated(nonsending) func lead() async -> Bool
    /// Whether it leads, as others see it.
    var isLeading: Bool { get }
    /// The other screens as of a second ago at most; there is no leader among them where this one
    /// leads. It is `nil` while this one can't be attached.
    var others: ScreenRoster? { get }
    /// The other screens as they are now.
    nonisolated(nonsending) func lookAtOthers() async -> ScreenRoster?
    /// A number that grows when something may have changed about the screens.
    var changeCount: UInt64 { get }
    /// Waits until ``changeCount`` differs from a number, for a second at most.
    nonisolated(nonsending) func waitForChange(after count: UInt64) async
    /// Tells the others which alert is on the screen, which one is current if it leads, and whether
    /// a delegate may handle its cancel; `false` if that can't be told.
    nonisolated(nonsending) func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool
    ) async -> Bool
    /// Tells the others which presenters can show something now, and whether another queue's alert
    /// keeps them from it.
    func offer(_ presenters: [String], isBusy: Bool)
    /// Stops leading, but stays attached.
    func stepBack()
    /// Ends the attachment.
    func release()
}
