/// How an option is written, and its help.
struct OptionSyntax: Sendable, Hashable {
    /// The long name, without its dashes.
    let name: String
    /// The short name; an ASCII letter.
    let short: Character?
    /// The name of the argument in the help; `nil` for an option without one.
    let placeholder: String?
    let help: String
    /// Whether it may be given more than once.
    let isRepeatable: Bool
    /// What a shell can offer for its argument.
    let kind: ArgumentKind
    /// Whether its argument may be left out before another option, and at the end of the line.
    var mayBeAlone = false

    /// The option that every verb has: whatever else is on the line, it shows the verb's help.
    static let help = OptionSyntax(
        name: "help", short: "h", placeholder: nil, help: "Show this help", isRepeatable: false,
        kind: .text)

    /// The same option, with a text added to its help.
    func adding(_ text: String) -> OptionSyntax {
        OptionSyntax(
            name: name, short: short, placeholder: placeholder, help: help + text,
            isRepeatable: isRepeatable, kind: kind, mayBeAlone: mayBeAlone)
    }
}
