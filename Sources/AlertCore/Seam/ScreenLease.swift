/// A screen that is attached to a queue, until it is released or its process ends.
package protocol ScreenLease: Sendable {
    /// Tries to become the screen that leads; returns whether it does now.
    nonisolated(nonsending) func lead() async -> Bool
    /// Waits until it may be worth trying again, for a second at most.
    nonisolated(nonsending) func waitToLead() async
    /// Whether it leads, as others see it.
    var isLeading: Bool { get }
    /// Tells the others which alert is on the screen, and whether a delegate may handle its cancel;
    /// `false` if that can't be told, or if it no longer leads.
    nonisolated(nonsending) func show(_ alert: Alert.ID?, hasDelegate: Bool) async -> Bool
    /// Stops leading, but stays attached.
    func stepBack()
    /// Ends the attachment.
    func release()
}
