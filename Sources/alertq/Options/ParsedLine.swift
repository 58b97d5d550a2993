/// The words of a command line, sorted into options and operands, which are still texts.
struct ParsedLine: Sendable {
    /// An option as it was given, with its argument if it takes one.
    struct Occurrence: Sendable, Hashable {
        let option: OptionSyntax
        /// `nil` where there is none.
        let value: String?
    }

    /// The options in the order in which they were given.
    let occurrences: [Occurrence]
    /// Everything that is not an option, in order; as many as the verb expects.
    let operands: [String]

    func has(_ option: OptionSyntax) -> Bool {
        occurrences.contains { $0.option == option }
    }
}
