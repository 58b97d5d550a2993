import AlertCore

/// One thing to choose, as a terminal shows it.
struct Choice: Hashable, Sendable {
    /// The index of the button, or the index in the menu of times.
    var index: Int
    /// The label, neutralised.
    var title: String
    var role: Alert.Button.Role?

    /// The first letter or digit of the label, in lower case.
    var letter: String? {
        title.first { $0.isLetter || $0.isNumber }?.lowercased()
    }
}
