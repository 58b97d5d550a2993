/// `alertq help [VERB]`: what there is, or what one verb does.
struct HelpCommand: Command {
    static let name = "help"
    static let abstract = "Show what there is, or what one verb does"
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
