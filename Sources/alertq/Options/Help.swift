/// The help of the command and of its verbs, made from their tables of options.
package enum Help {
    /// What `alertq help` prints.
    package static var overview: String {
        """
        Usage: alertq VERB [OPTIONS] [ARGUMENTS]

        Asks people questions, which wait until somebody answers them, whatever happens
        to the program that asked.

        Verbs:
        \(list(Verbs.all))
        `alertq help VERB` tells more about a verb, `alertq --version` the version.

        """
    }

    /// What `alertq help VERB` and `alertq VERB --help` print.
    package static func text(for verb: any Command.Type) -> String {
        let words = ["Usage: alertq", verb.name, "[OPTIONS]"] + verb.operands
        var sections = [words.joined(separator: " ") + "\n", verb.abstract + ".\n"]
        if !verb.options.isEmpty { sections.append("Options:\n" + table(verb.options)) }
        sections.append("Common options:\n" + table(verb.common))
        sections += verb.discussion.map { wrapped($0, to: 80).joined(separator: "\n") + "\n" }
        return sections.joined(separator: "\n")
    }

    /// What the help of a group such as `audit` is.
    package static func text(forGroup name: String) -> String {
        "Usage: alertq \(name) VERB [OPTIONS]\n\nVerbs:\n" + list(Verbs.group(name))
    }

    private static func list(_ verbs: [any Command.Type]) -> String {
        let width = verbs.map { $0.name.count }.max() ?? 0
        return verbs.map { "  \(padded($0.name, to: width))  \($0.abstract)\n" }.joined()
    }

    private static func table(_ options: [Option]) -> String {
        let column = 30
        return options.map { option in
            let short = option.short.map { "-\($0), " } ?? "    "
            let argument = option.placeholder.map { " \($0)" } ?? ""
            let head = "  \(short)--\(option.name)\(argument)"
            let repeats = option.isRepeatable ? " (repeatable)" : ""
            let lines = wrapped(option.help + repeats, to: 80 - column)
            let indented = lines.map { String(repeating: " ", count: column) + $0 }
            // A head that reaches the column gets a line of its own.
            guard head.count + 2 <= column, let first = lines.first else {
                return ([head] + indented).joined(separator: "\n") + "\n"
            }
            let rest = indented.dropFirst()
            return ([padded(head, to: column) + first] + rest).joined(separator: "\n") + "\n"
        }.joined()
    }

    /// Breaks a text at its spaces. The texts of help are ASCII but for quotes: a character is a
    /// column.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
