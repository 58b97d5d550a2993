/// `alertq help [VERB]`: lists the verbs, or describes one of them.
struct HelpCommand: Command {
    static let name = "help"
    static let abstract = "List the verbs, or describe one of them"
    static let operands: [Operand<Self>] = [Operand(.text("VERB", .verb), each: \.words)]

    var common = HelpOptions()
    private var words: [String] = []

    func run(in context: Context) async throws -> ExitCode {
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
