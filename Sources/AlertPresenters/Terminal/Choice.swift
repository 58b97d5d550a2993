import AlertCore
import TextFormats

/// One thing to choose, as a terminal shows it.
struct Choice: Hashable, Sendable {
    /// The index of the button, or the index in the menu of times.
    var index: Int
    /// The label as the terminal shows it.
    let title: String
    var role: Alert.Button.Role?
    /// The first letter or digit of the label, in lower case; a terminal that can't show it shows
    /// other letters in its place, which are not its.
    let letter: String?

    init(
        index: Int, label: String, role: Alert.Button.Role? = nil,
        characters: TerminalCharacters = .all
    ) {
        self.index = index
        self.role = role
        title = characters.title(label)
        letter = SafeText.title(label).first { $0.isLetter || $0.isNumber }?.lowercased()
    }
}
