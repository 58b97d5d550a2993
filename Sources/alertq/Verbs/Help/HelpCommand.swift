/// `alertq help [VERB]`: what there is, or what one verb does.
package struct HelpCommand: Command {
    package static let name = "help"
    package static let abstract = "Show what there is, or what one verb does"
    package static let operands = ["[VERB...]"]
    /// Help is for people, and opens no queue.
    package static let common = [Option.help]

    private let words: [String]

    package init(_ arguments: Arguments) throws {
        words = arguments.operands
    }

    package func run(in context: Context) async throws -> ExitCode {
        let columns = context.output.columns
        let name = words.joined(separator: " ")
        if let verb = Verbs.named(name) {
            try context.output.write(Help.text(for: verb, columns: columns))
        } else if words.isEmpty {
            try context.output.write(Help.overview(columns: columns))
        } else if !Verbs.group(name).isEmpty {
            try context.output.write(Help.text(forGroup: name, columns: columns))
        } else {
            throw UsageError(Program.unknown("verb", name, Verbs.all.map { $0.name }))
        }
        return .done
    }
}
