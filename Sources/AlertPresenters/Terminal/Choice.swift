import AlertCore

/// One thing to choose, as a terminal shows it.
struct Choice: Hashable, Sendable {
    /// What the choice stands for: the button's index, or the index in the menu of times.
    var index: Int
    /// The label, harmless.
    var title: String
    var role: Alert.Button.Role?

    /// The key that its label begins with, in lower case; labels may begin with signs.
    var letter: String? {
        title.first { $0.isLetter || $0.isNumber }?.lowercased()
    }
}
