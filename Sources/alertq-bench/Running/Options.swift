/// What the command line asks for.
struct Options: Sendable {
    var plan = Plan()
    var isJSON = false
    var isList = false
    var isHelp = false
    /// The benchmarks to run, all of them if none is named.
    var names: Set<String> = []

    /// - Throws: ``BenchmarkError`` for a word that it does not know.
    init(_ arguments: [String], known: [String]) throws(BenchmarkError) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--list": isList = true
            case "--help", "-h": isHelp = true
            case "--small":
                plan.isSmall = true
                plan.rounds = 1
                plan.alerts = 2000
            case "--full": plan.alerts = 10_000_000
            case "--rounds": plan.rounds = try Self.number(word, &rest)
            case "--alerts": plan.alerts = try Self.number(word, &rest)
            case "--sync-delay": plan.syncDelay = try Self.number(word, &rest)
            case "--keep":
                guard let directory = rest.popFirst() else {
                    throw BenchmarkError("--keep takes a directory")
                }
                plan.directory = directory
            case "--program":
                guard let program = rest.popFirst() else {
                    throw BenchmarkError("--program takes a path")
                }
                plan.program = program
            default:
                guard known.contains(word) else {
                    throw BenchmarkError("unknown benchmark or option “\(word)”; see --help")
                }
                names.insert(word)
            }
        }
    }

    private static func number(
        _ word: String, _ rest: inout ArraySlice<String>
    ) throws(BenchmarkError) -> Int {
        guard let number = rest.popFirst().flatMap(Int.init), number > 0 else {
            throw BenchmarkError("\(word) takes a number above 0")
        }
        return number
    }
}
