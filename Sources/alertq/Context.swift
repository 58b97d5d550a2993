import AlertQueue
import FoundationEssentials
import Glibc

/// What a verb needs from the process around it, so that tests can give it something else.
struct Context: Sendable {
    /// Where results go, and nothing else.
    let output: Output
    /// Where everything else goes.
    let errors: Output
    /// The environment; by default the process's own.
    let variables: @Sendable (String) throws -> String?
    /// The time that ages are told against.
    let now: @Sendable () -> Date
    /// Whether people want times in UTC, too; see ``CommonOptions/isUTC``.
    private(set) var isUTC = false

    init(
        output: Output, errors: Output,
        variables: @escaping @Sendable (String) throws -> String? = Context.variable,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.output = output
        self.errors = errors
        self.variables = variables
        self.now = now
    }

    /// The same, with all times in UTC if that is wanted.
    func with(isUTC: Bool) -> Context {
        var context = self
        context.isUTC = isUTC
        return context
    }

    /// The name of who asks: the one that was given, else the environment's, else this command's.
    func source(_ given: String?) throws -> String {
        try given ?? variables("ALERTQ_SOURCE") ?? "alertq"
    }

    /// How results tell moments in sentences: local for people, and in UTC for programs.
    var lastingTime: LocalTime.Form { output.isTerminal && !isUTC ? .whole : .utc }

    /// How notes tell moments.
    var noteTime: LocalTime.Form { isUTC ? .utc : .brief(now: now()) }

    /// Writes lines of results to stdout.
    ///
    /// - Throws: ``OutputError`` when they could not be written: what did not arrive is no success.
    func print(_ lines: String...) throws(OutputError) {
        try output.write(lines.map { $0 + "\n" }.joined())
    }

    /// Writes one line about what is going on to stderr, with its control characters made visible.
    ///
    /// A stderr that can't be written loses the line: it must not change what the command does.
    func note(_ line: String) {
        try? errors.write("alertq: \(SafeText.line(line))\n")
    }

    /// How results are laid out and coloured.
    var style: TextStyle {
        let noColor = (try? variables("NO_COLOR")) != nil
        let isDumb = (try? variables("TERM")) == "dumb"
        return TextStyle(isColoured: output.isTerminal && !noColor && !isDumb)
    }

    /// A variable of this process's environment; `nil` where it is unset or empty.
    ///
    /// - Throws: ``CommandError`` where it is not valid UTF-8.
    static func variable(_ name: String) throws -> String? {
        guard let value = getenv(name) else { return nil }
        guard let text = String(validatingCString: value) else {
            throw CommandError(.badData, "the variable \(name) is not valid UTF-8")
        }
        return text.isEmpty ? nil : text
    }
}
