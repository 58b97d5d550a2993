/// How an option is written, and what its help says of it.
struct OptionSyntax: Sendable, Hashable {
    /// The long name, without its dashes.
    let name: String
    /// The short name; an ASCII letter.
    let short: Character?
    /// What stands for the argument in the help; `nil` for an option without one.
    let placeholder: String?
    let help: String
    /// Whether it may be given more than once.
    let isRepeatable: Bool
    /// What a shell can offer for its argument.
    let kind: ArgumentKind

    /// The option that every verb has: whatever else is on the line, it shows the verb's help.
    static let help = OptionSyntax(
        name: "help", short: "h", placeholder: nil, help: "Show this help", isRepeatable: false,
        kind: .text)

    /// The same, with more at the end of its help.
    func adding(_ text: String) -> OptionSyntax {
        OptionSyntax(
            name: name, short: short, placeholder: placeholder, help: help + text,
            isRepeatable: isRepeatable, kind: kind)
    }
}
