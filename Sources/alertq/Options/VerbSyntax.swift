/// What can be typed after a verb, and what its help says: parsing, help, the manual page and
/// completion all follow from it.
struct VerbSyntax: Sendable {
    /// What is typed after `alertq`; two words for a verb of a group, such as `audit list`.
    let name: String
    let abstract: String
    let operands: [OperandSyntax]
    /// The verb's own options, in the order of its help.
    let options: [OptionSyntax]
    /// The options that it shares with other verbs.
    let common: [OptionSyntax]
    let discussion: [String]
    let examples: [Example]
    let adviceForSurplus: String
    let endsOptionsAtOperand: Bool

    var allOptions: [OptionSyntax] { options + common }
}
