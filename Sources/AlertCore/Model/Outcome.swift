/// How an alert ended. The kinds are never merged.
public enum Outcome: String, Sendable, CaseIterable, Codable {
    /// A person chose a button, or a program or a standing policy did.
    case answered
    /// The system cancelled the alert.
    case cancelled
    /// An alert without buttons left the screen.
    case dismissed
    /// The deadline passed; a default button may have been applied, by policy.
    case expired
    /// The asker withdrew the alert.
    case withdrawn
}
