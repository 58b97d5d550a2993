import AlertCore

/// The label of a button in a plain-text prompt, which has no colours to mark destructive ones.
enum PromptLabel {
    /// The label, followed by a word if the button is destructive.
    static func text(_ title: String, _ role: Alert.Button.Role?) -> String {
        role == .destructive ? title + " (destructive)" : title
    }
}
