import AlertPresenters
import AlertQueue
import FoundationEssentials
import Glibc
import TextFormats

/// The process around a verb, parts of which tests can replace.
struct Context: Sendable {
    /// Where results go, and nothing else.
    let output: Output
    /// Where everything else goes.
    let errors: Output
    /// The environment; by default the process's own.
    let variables: @Sendable (String) throws -> String?
    /// The current time, from which ages are counted.
    let now: @Sendable () -> Date
    /// Whether times for people are in UTC, too; see ``CommonOptions/isUTC``.
    private(set) var isUTC = false
    /// Whether stderr gets errors alone.
    private(set) var isQuiet = false
    /// Whether errors are objects of JSON.
    private(set) var isJSON = false

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

    /// The same context, with all times in UTC if `isUTC` is set.
    func with(isUTC: Bool) -> Context {
        var context = self
        context.isUTC = isUTC
        return context
    }

    /// The same context, with errors alone on stderr if `isQuiet` is set.
    func with(isQuiet: Bool) -> Context {
        var context = self
        context.isQuiet = isQuiet
        return context
    }

    /// The same context, with errors as objects of JSON if `isJSON` is set.
    func with(isJSON: Bool) -> Context {
        var context = self
        context.isJSON = isJSON
        return context
    }

    /// The asker's name: the one that was given, else the environment's, else this command's.
    func source(_ given: String?) throws -> String {
        try given ?? variables("ALERTQ_SOURCE") ?? "alertq"
    }

    /// How moments are written in results: in local time for people, and in UTC for programs.
    var lastingTime: LocalTime.Form { output.isTerminal && !isUTC ? .whole : .utc }

    /// How moments are written in notes.
    var noteTime: LocalTime.Form { isUTC ? .utc : .brief(now: now()) }

    /// Writes lines of results to stdout.
    ///
    /// - Throws: ``OutputError`` when they could not be written: an unwritten result is a failure.
    func print(_ lines: String...) throws(OutputError) {
        try output.write(lines.map { $0 + "\n" }.joined())
    }

    /// Writes one line of information to stderr, with its control characters made visible.
    ///
    /// On a terminal that a program has borrowed, the line appears once that program has ended. A
    /// stderr that can't be written loses the line: it must not change what the command does.
    func note(_ line: String) { writeError("alertq: \(SafeText.line(line))") }

    private func writeError(_ line: String) {
        let write = { @Sendable [errors] in _ = try? errors.write(line + "\n") }
        if errors.isTerminal { LentTerminal.afterwards(write) } else { write() }
    }

    /// Says on stderr why a verb has failed: in a line as ``note(_:)`` writes it or, with `--json`,
    /// in an object with the exit code.
    func fail(_ error: any Error, _ verb: String?, _ code: ExitCode) {
        let message = "\(error)"
        let json = JSONValue.object([
            ("error", .string(message)), ("verb", .optional(verb)),
            ("exit_code", .integer(Int64(code.rawValue))),
        ])
        guard isJSON, let text = try? json.text() else {
            return note((verb.map { "\($0): " } ?? "") + message)
        }
        writeError(text)
    }

    /// Writes one line to stderr, as ``note(_:)`` does, unless only errors are wanted there.
    func inform(_ line: String) {
        if !isQuiet { note(line) }
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
