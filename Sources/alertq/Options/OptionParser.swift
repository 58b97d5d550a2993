import AlertQueue
import CLinux
import Glibc
import Synchronization
import TextFormats

/// Parses the arguments of a verb with the C library's getopt_long(3).
struct OptionParser: Sendable {
    private let verb: String
    private let options: [OptionSyntax]
    private let operands: [OperandSyntax]
    private let endsOptionsAtOperand: Bool
    private let adviceForSurplus: String

    /// getopt keeps its position in global variables.
    private static let turn = Mutex(())
    /// What getopt returns for a long option is this plus the option's index in the table, so that
    /// it is never a character.
    private static let firstLong: Int32 = 1 << 16

    init(_ syntax: VerbSyntax) {
        verb = syntax.name
        options = syntax.allOptions
        operands = syntax.operands
        endsOptionsAtOperand = syntax.endsOptionsAtOperand
        adviceForSurplus = syntax.adviceForSurplus
    }

    /// Parses what follows the verb.
    ///
    /// `--help` anywhere wins over missing operands, so that it always helps.
    func parse(_ arguments: [String]) throws(UsageError) -> ParsedLine {
        let parsed = try scan(arguments)
        try checkRepeats(parsed.occurrences)
        if !parsed.has(.help) { try checkOperands(parsed.operands) }
        return parsed
    }

    private func scan(_ arguments: [String]) throws(UsageError) -> ParsedLine {
        let result = Self.turn.withLock { _ in
            Result { () throws(UsageError) in try scanLocked([verb] + arguments) }
        }
        return try result.get()
    }

    private func scanLocked(_ words: [String]) throws(UsageError) -> ParsedLine {
        var argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var names = options.map { strdup($0.name) }
        defer {
            for pointer in argv + names { free(pointer) }
            names = []
        }
        var table = options.indices.map { index in
            CLinux.option(
                name: names[index], has_arg: Self.argument(of: options[index]), flag: nil,
                val: Self.firstLong + Int32(index))
        }
        table.append(CLinux.option())
        clinux_getopt_reset()
        var occurrences: [ParsedLine.Occurrence] = []
        var found: [String] = []
        // Each round consumes an option or an operand, so the loop ends.
        while true {
            let code = getopt_long(Int32(words.count), &argv, shortOptions, table, nil)
            if code == -1 { break }
            let value = clinux_getopt_argument().map { String(cString: $0) }
            if code == 1 {
                found.append(value ?? "")
            } else if let option = option(for: code) {
                let next = value == nil && option.mayBeAlone ? Self.nextArgument(argv) : nil
                occurrences.append(.init(option: option, value: value ?? next))
            } else {
                throw problem(code, in: words)
            }
        }
        // getopt stops after `--`, or where the options end; the words after it are all operands.
        return ParsedLine(
            occurrences: occurrences, operands: found + words[Int(clinux_getopt_index())...])
    }

    /// Whether getopt looks for an argument: never, always, or only after `=`.
    private static func argument(of option: OptionSyntax) -> Int32 {
        option.placeholder == nil ? 0 : option.mayBeAlone ? 2 : 1
    }

    /// Takes the next word as an argument, unless it is an option.
    private static func nextArgument(_ words: [UnsafeMutablePointer<CChar>?]) -> String? {
        guard let word = words[Int(clinux_getopt_index())].map({ String(cString: $0) }),
            !word.hasPrefix("-")
        else { return nil }
        clinux_getopt_skip()
        return word
    }

    /// A leading `-` makes getopt return operands in place, as the code 1, even with
    /// `POSIXLY_CORRECT`, and a `+` makes it stop at the first one; the `:` makes it distinguish a
    /// missing argument from an unknown option.
    private var shortOptions: String {
        options.reduce(into: endsOptionsAtOperand ? "+:" : "-:") { text, option in
            guard let short = option.short else { return }
            text += option.placeholder == nil ? "\(short)" : "\(short):"
        }
    }

    private func option(for code: Int32) -> OptionSyntax? {
        if code >= Self.firstLong { return options[Int(code - Self.firstLong)] }
        return options.first { $0.short?.asciiValue.map(Int32.init) == code }
    }
}

// MARK: - Errors

extension OptionParser {
    private func problem(_ code: Int32, in words: [String]) -> UsageError {
        let letter = clinux_getopt_option()
        let isLong = letter == 0 || letter >= Self.firstLong
        let index = Int(clinux_getopt_index())
        guard isLong else {
            // getopt is still inside a cluster such as `-xy` unless it failed at its last letter.
            guard let byte = UInt8(exactly: letter), (0x21..<0x7F).contains(byte) else {
                return UsageError("an option is one ASCII letter, or a word after two dashes")
            }
            let name = "-\(Character(Unicode.Scalar(byte)))"
            if let known = option(for: letter) { return missing(known, name) }
            let isAtEnd = words[index - 1].hasSuffix(name.dropFirst())
            return unknown(name, in: words[isAtEnd ? index - 1 : min(index, words.count - 1)])
        }
        let name = String(words[index - 1].prefix { $0 != "=" })
        if let known = option(for: letter) {
            if code == Int32(UInt8(ascii: ":")) { return missing(known, "--\(known.name)") }
            return UsageError("the option --\(known.name) takes no argument")
        }
        let candidates = options.map { "--\($0.name)" }.filter { $0.hasPrefix(name) }
        guard candidates.count < 2 || name == "--" else {
            let list = candidates.joined(separator: ", ")
            return UsageError("the option “\(name)” is ambiguous: \(list)")
        }
        return unknown(name, in: name)
    }

    private func missing(_ option: OptionSyntax, _ name: String) -> UsageError {
        UsageError("the option \(name) needs an argument: \(option.placeholder ?? "")")
    }

    private func unknown(_ name: String, in word: String) -> UsageError {
        // `-message` is one dash short of what was meant.
        let meant = word.drop { $0 == "-" }.prefix { $0 != "=" }
        let suggestion =
            !word.hasPrefix("--") && meant.dropFirst().allSatisfy(\.isNumber)
            ? longOption(forLetter: String(meant.prefix(1)))
            : Suggestion.text(for: String(meant), among: options.map(\.name))
        let hint =
            suggestion.map { "; did you mean --\($0)?" }
            ?? "; put text that begins with a dash after --"
        return UsageError("unknown option “\(name)”\(hint)")
    }

    /// The option that other programs have under a letter, or the only one that begins with it.
    private func longOption(forLetter letter: String) -> String? {
        let names = options.map(\.name)
        if letter == "n", names.contains("limit") { return "limit" }
        let matches = names.filter { $0.hasPrefix(letter) }
        return matches.count == 1 ? matches[0] : nil
    }

    private func checkRepeats(_ occurrences: [ParsedLine.Occurrence]) throws(UsageError) {
        var seen: Set<OptionSyntax> = []
        for option in occurrences.map(\.option) where !option.isRepeatable {
            guard seen.insert(option).inserted || option.placeholder == nil else {
                throw UsageError("the option --\(option.name) is given twice")
            }
        }
    }

    private func checkOperands(_ given: [String]) throws(UsageError) {
        let usage = "usage: alertq " + ([verb] + operands.map(\.usage)).joined(separator: " ")
        let required = operands.count { $0.count == .required }
        let limit = operands.areUnlimited ? Int.max : operands.count
        guard given.count >= required else {
            throw UsageError("expected \(operands[given.count].name); \(usage)")
        }
        guard given.count <= limit else {
            let word = given[limit]
            // Only after “--” can an option be an operand.
            let isOption = options.contains {
                word == "--\($0.name)" || word == "-\($0.short ?? "-")"
            }
            let advice =
                isOption ? "; options stand before “--”, which ends them" : adviceForSurplus
            throw UsageError("unexpected argument “\(word)”\(advice); \(usage)")
        }
    }
}
