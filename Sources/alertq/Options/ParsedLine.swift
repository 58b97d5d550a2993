/// The words of a command line, sorted into options and operands, which are still texts.
package struct ParsedLine: Sendable {
    /// An option as it was given, with its argument if it takes one.
    package struct Occurrence: Sendable, Hashable {
        package let option: OptionSyntax
        package let value: String
    }

    /// The options in the order in which they were given.
    package let occurrences: [Occurrence]
    /// Everything that is not an option, in order; as many as the verb expects.
    package let operands: [String]

    package func has(_ option: OptionSyntax) -> Bool {
        occurrences.contains { $0.option == option }
    }
}
