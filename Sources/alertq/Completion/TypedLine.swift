/// The beginning of a command line, as far as a person has typed it.
struct TypedLine: Sendable {
    /// The verb, once it has been typed.
    private(set) var verb: (any Command.Type)?
    /// The words that may still become a verb: `audit` of `audit list`.
    private(set) var beginning: [String] = []
    /// The options and operands before the word that is being typed.
    private(set) var occurrences: [ParsedLine.Occurrence] = []
    private(set) var operands: [String] = []
    /// What is being typed; empty at the start of a word.
    private(set) var current: String
    /// The option whose argument is being typed.
    private(set) var option: OptionSyntax?
    /// What precedes that argument in its word: `--priority=`.
    private(set) var prefix = ""
    /// Whether `--` has ended the options.
    private(set) var isPastOptions = false

    /// Takes the words after `alertq`, the last of which is being typed.
    ///
    /// Invalid words are passed over, because the line is not finished.
    init(_ words: [String]) {
        current = words.last ?? ""
        var rest = words.dropLast()
        while verb == nil, let word = rest.popFirst() {
            beginning.append(word)
            verb = Verbs.named(beginning.joined(separator: " "))
        }
        for word in rest { take(word) }
        if option == nil, !isPastOptions { splitCurrent() }
    }

    /// The options that the verb takes.
    var options: [OptionSyntax] { verb?.syntax.allOptions ?? [] }

    /// Whether an option was given before the word that is being typed.
    func has(_ option: OptionSyntax) -> Bool { occurrences.contains { $0.option == option } }

    /// The kinds of the operand that is being typed: after a list comes another word of it, or what
    /// follows the list.
    var operandKinds: [ArgumentKind] {
        guard let known = verb?.syntax.operands else { return [] }
        guard let list = known.firstIndex(where: { $0.count == .any }), operands.count >= list
        else {
            return operands.count < known.count ? [known[operands.count].kind] : []
        }
        return known[(list + 1)...].prefix(1).map(\.kind) + [known[list].kind]
    }

    private mutating func take(_ word: String) {
        if let open = option, !open.mayBeAlone || !word.hasPrefix("-") {
            occurrences.append(.init(option: open, value: word))
            option = nil
            return
        }
        option = nil
        if isPastOptions || !word.hasPrefix("-") || word == "-" {
            operands.append(word)
            if verb?.endsOptionsAtOperand == true { isPastOptions = true }
        } else if word == "--" {
            isPastOptions = true
        } else if let (found, value) = argument(in: word) {
            occurrences.append(.init(option: found, value: value))
        } else if let found = named(word) {
            if found.placeholder == nil {
                occurrences.append(.init(option: found, value: nil))
            } else {
                option = found
            }
        }
    }

    /// Splits `--priority=` off the word that is being typed.
    private mutating func splitCurrent() {
        guard let (found, value) = argument(in: current) else { return }
        option = found
        prefix = String(current.dropLast(value.count))
        current = value
    }

    /// The option with an argument in one word: `--priority=high`, or `-mTEXT`.
    private func argument(in word: String) -> (OptionSyntax, String)? {
        if word.hasPrefix("--") {
            guard let equals = word.firstIndex(of: "="), let option = named(String(word[..<equals]))
            else { return nil }
            return (option, String(word[word.index(after: equals)...]))
        }
        guard word.hasPrefix("-"), word.count > 2, let option = named(String(word.prefix(2))),
            option.placeholder != nil
        else { return nil }
        return (option, String(word.dropFirst(2)))
    }

    /// The option with a name, which getopt_long(3) lets people shorten.
    private func named(_ word: String) -> OptionSyntax? {
        if word.hasPrefix("--") {
            let name = word.dropFirst(2)
            let exact = options.first { $0.name == name }
            let matches = options.filter { $0.name.hasPrefix(name) }
            return exact ?? (matches.count == 1 ? matches[0] : nil)
        }
        return options.first { $0.short.map { "-\($0)" } == word }
    }
}
