/// What can be typed after a verb, and what its help says: parsing, help, the manual page and
/// completion all follow from it.
package struct VerbSyntax: Sendable {
    /// What people type after `alertq`; two words for a verb of a group, such as `audit list`.
    package let name: String
    package let abstract: String
    package let operands: [OperandSyntax]
    /// The verb's own options, in the order of its help.
    package let options: [OptionSyntax]
    /// The options that it shares with other verbs.
    package let common: [OptionSyntax]
    package let discussion: [String]

    package var allOptions: [OptionSyntax] { options + common }
}
