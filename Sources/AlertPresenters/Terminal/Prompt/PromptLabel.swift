import AlertCore

/// A button in a prompt of plain text, which has no colours to mark what destroys.
enum PromptLabel {
    /// The label, with a word behind one that destroys.
    static func text(_ title: String, _ role: Alert.Button.Role?) -> String {
        role == .destructive ? title + " (destructive)" : title
    }
}
