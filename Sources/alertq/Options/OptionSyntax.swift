/// How an option is written, and what its help says of it.
package struct OptionSyntax: Sendable, Hashable {
    /// The long name, without its dashes.
    package let name: String
    /// The short name; an ASCII letter.
    package let short: Character?
    /// What stands for the argument in the help; `nil` for an option without one.
    package let placeholder: String?
    package let help: String
    /// Whether it may be given more than once.
    package let isRepeatable: Bool
    /// What a shell can offer for its argument.
    package let kind: ArgumentKind

    /// The option that every verb has: whatever else is on the line, it shows the verb's help.
    static let help = OptionSyntax(
        name: "help", short: "h", placeholder: nil, help: "Show this help", isRepeatable: false,
        kind: .text)
}
