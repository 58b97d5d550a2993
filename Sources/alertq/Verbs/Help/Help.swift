import AlertPresenters

/// The help of the command and of its verbs, made from their tables of options.
///
/// It is as wide as 80 columns, or as the terminal that shows it if that is narrower.
enum Help {
    /// What `alertq help` prints.
    static var overview: String { overview(columns: nil) }

    static func overview(columns: Int?) -> String {
        let width = width(columns)
        let about = """
            Asks people questions, which wait until somebody answers them, whatever happens to \
            the program that asked.
            """
        let more = "`alertq help VERB` describes a verb; `alertq --version` prints the version."
        return [
            paragraph("Usage: alertq VERB [OPTIONS] [ARGUMENTS]", width), paragraph(about, width),
            "Verbs:\n" + list(Verbs.all, width), paragraph(more, width),
        ].joined(separator: "\n")
    }

    /// What `alertq help VERB` and `alertq VERB --help` print.
    static func text(for verb: any Command.Type, columns: Int? = nil) -> String {
        let width = width(columns)
        let syntax = verb.syntax
        let words = ["Usage: alertq", syntax.name, "[OPTIONS]"] + syntax.operands.map(\.usage)
        var sections = [
            paragraph(words.joined(separator: " "), width),
            paragraph(syntax.abstract + ".", width),
        ]
        if !syntax.options.isEmpty {
            sections.append("Options:\n" + table(syntax.options, width))
        }
        sections.append("Common options:\n" + table(syntax.common, width))
        sections += syntax.discussion.map { paragraph($0, width) }
        if !syntax.examples.isEmpty {
            sections.append("Examples:\n" + syntax.examples.map { text($0, width) }.joined())
        }
        return sections.joined(separator: "\n")
    }

    /// The help of a group such as `audit`.
    static func text(forGroup name: String, columns: Int? = nil) -> String {
        let width = width(columns)
        return paragraph("Usage: alertq \(name) VERB [OPTIONS]", width) + "\nVerbs:\n"
            + list(Verbs.group(name), width)
    }

    private static func width(_ columns: Int?) -> Int { min(80, max(20, columns ?? 80)) }

    private static func paragraph(_ text: String, _ width: Int) -> String {
        wrapped(text, to: width).joined(separator: "\n") + "\n"
    }

    private static func list(_ verbs: [any Command.Type], _ width: Int) -> String {
        let column = (verbs.map { $0.name.count }.max() ?? 0) + 4
        return verbs.map { entry("  " + $0.name, $0.abstract, from: column, width) }.joined()
    }

    private static func table(_ options: [OptionSyntax], _ width: Int) -> String {
        options.map { option in
            let short = option.short.map { "-\($0), " } ?? "    "
            let argument = option.placeholder.map { " \($0)" } ?? ""
            let head = "  \(short)--\(option.name)\(argument)"
            let repeats = option.isRepeatable ? " (repeatable)" : ""
            // Half of a narrow screen would be empty: there each option has a line of its own.
            return entry(head, option.help + repeats, from: width < 60 ? 10 : 30, width)
        }.joined()
    }

    private static func text(_ example: Example, _ width: Int) -> String {
        let line = wrapped(example.line, to: width - 4).joined(separator: "\n    ")
        let about = wrapped(example.about, to: width - 6).map { "      \($0)\n" }
        return "  \(line)\n" + about.joined()
    }

    /// A name, and from a column on its description; a name that extends to the column gets a line
    /// of its own.
    private static func entry(
        _ name: String, _ text: String, from column: Int, _ width: Int
    ) -> String {
        let lines = wrapped(text, to: width - column)
        let indented = lines.map { String(repeating: " ", count: column) + $0 }
        guard name.count + 2 <= column, let first = lines.first else {
            return ([name] + indented).joined(separator: "\n") + "\n"
        }
        let rest = indented.dropFirst()
        return ([DisplayWidth.padded(name, to: column) + first] + rest)
            .joined(separator: "\n") + "\n"
    }

    /// Breaks a text at its spaces, and a word if it is wider than a line. The texts of help are
    /// ASCII but for quotes: a character is a column.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            var rest = word
            let line = lines[lines.count - 1]
            if !line.isEmpty, line.count + 1 + word.count <= width {
                lines[lines.count - 1] = line + " " + word
                continue
            }
            while !rest.isEmpty {
                let part = String(rest.prefix(width))
                if lines[lines.count - 1].isEmpty {
                    lines[lines.count - 1] = part
                } else {
                    lines.append(part)
                }
                rest = rest.dropFirst(width)
            }
        }
        return lines
    }
}
