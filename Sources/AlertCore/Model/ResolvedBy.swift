/// Who decided on a response.
public enum ResolvedBy: String, Sendable, CaseIterable {
    /// Somebody chose, or closed an alert without buttons: on a presenter's screen, or with a
    /// command in the foreground of its terminal.
    case person
    /// A program chose: the library's ``AlertManager/answer(_:button:by:seen:)``, or a command
    /// without a terminal.
    case program
    /// A rule that was set beforehand, such as the default button of a deadline.
    case policy
    /// Whoever had asked.
    case asker
    /// A timer, or a cancel in the system's name.
    case system
}
