/// Who decided on a response.
public enum ResolvedBy: String, Sendable, CaseIterable, Codable {
    /// A person chose a button or closed an alert without buttons: on a presenter's screen, or with
    /// a command in the foreground of its terminal.
    case person
    /// A program chose: the library's ``AlertManager/answer(_:button:by:seen:input:)``, or a command
    /// without a terminal.
    case program
    /// A rule set in advance, such as the default button of a deadline.
    case policy
    /// The asker of the alert.
    case asker
    /// A timer, or a cancel on behalf of the system.
    case system
}
