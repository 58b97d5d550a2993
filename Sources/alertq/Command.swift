/// A verb of the command.
///
/// It declares its options and operands with the properties that they set, and then runs. Parsing,
/// help, the manual page and completion follow from these declarations. A new verb is a file of
/// its own and a line in ``Verbs/all``.
protocol Command: Sendable {
    /// The options that it shares with other verbs.
    associatedtype Common: CommonOptions

    /// What is typed after `alertq`; two words for a verb of a group, such as `audit list`.
    static var name: String { get }
    /// One line for `alertq help`; starts with a verb, ends without a full stop.
    static var abstract: String { get }
    /// The arguments that are not options, in order.
    static var operands: [Operand<Self>] { get }
    /// The verb's own options, in the order of its help.
    static var options: [Option<Self>] { get }
    /// Paragraphs of help that follow the options.
    static var discussion: [String] { get }
    /// Command lines with which the help ends.
    static var examples: [Example] { get }
    /// What was probably meant by an operand too many; it follows the word, and may be empty.
    static var adviceForSurplus: String { get }
    /// Whether options end at the first operand, because the rest belongs to another command.
    static var endsOptionsAtOperand: Bool { get }
    /// The exit code of every failure, for a verb whose other exit codes are another command's.
    static var failure: ExitCode? { get }
    /// Does what follows an error besides its message; returns the exit code, if the verb has one of
    /// its own.
    static func refuse(_ error: any Error, in context: Context) -> ExitCode?

    /// A verb with nothing given: each property has its default.
    init()
    var common: Common { get set }
    /// Whether results are printed as JSON, and errors then, too.
    var isJSON: Bool { get }
    /// Checks the rules among options once all have been read, and combines what belongs together.
    mutating func validate() throws
    /// Does all of the work on the calling thread if that needs no waiting; `nil` means that
    /// nothing has been done yet, and that ``run(in:)`` has to do it.
    func runAtOnce(in context: Context) throws -> ExitCode?
    func run(in context: Context) async throws -> ExitCode
}

extension Command {
    static var operands: [Operand<Self>] { [] }
    static var options: [Option<Self>] { [] }
    static var discussion: [String] { [] }
    static var examples: [Example] { [] }
    static var adviceForSurplus: String { "" }
    static var endsOptionsAtOperand: Bool { false }
    static var failure: ExitCode? { nil }
    static func refuse(_ error: any Error, in context: Context) -> ExitCode? { failure }

    var isJSON: Bool { false }

    mutating func validate() throws {}
    func runAtOnce(in context: Context) throws -> ExitCode? { nil }
}

// MARK: - Parsing

extension Command {
    /// The syntax of the verb, without the properties that it sets.
    static var syntax: VerbSyntax {
        let verb = Self()
        return VerbSyntax(
            name: name, abstract: abstract, operands: operands.map(\.syntax),
            options: options.map { $0.syntax(in: verb) },
            common: Common.options.map { $0.syntax(in: verb.common) }, discussion: discussion,
            examples: examples, adviceForSurplus: adviceForSurplus,
            endsOptionsAtOperand: endsOptionsAtOperand)
    }

    /// Parses the words after the verb; returns `nil` if they ask for help.
    ///
    /// - Throws: ``UsageError`` for words that break the rules of the command.
    static func parse(_ words: [String]) throws -> Self? {
        let arguments = try OptionParser(syntax).parse(words)
        guard !arguments.has(.help) else { return nil }
        let options = options + Common.options.map { $0.within(\.common) }
        var verb = Self()
        for occurrence in arguments.occurrences {
            let option = options.first { $0.syntax.name == occurrence.option.name }
            guard let option else { preconditionFailure("the parser returned an unknown option") }
            try option.read(occurrence.value, into: &verb)
        }
        let places = operands.map(\.syntax)
        for (word, text) in arguments.operands.enumerated() {
            let place = places.index(ofWord: word, among: arguments.operands.count)
            try operands[place].read(text, into: &verb)
        }
        try verb.common.validate()
        try verb.validate()
        return verb
    }
}
