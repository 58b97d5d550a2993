import AlertPresenters
import AlertQueue
import Glibc

/// A presenter as `--on` names it.
package enum PresenterKind: Sendable, Hashable {
    case terminal
    /// Windows of the desktop's dialog program.
    case dialog
    /// A program of the user's own.
    case command(String)

    /// What may be given, for help and errors.
    package static let names = "terminal, dialog, command:PROGRAM"

    package init(_ text: String) throws(UsageError) {
        let prefix = "command:"
        switch text {
        case "terminal": self = .terminal
        case "dialog": self = .dialog
        case let text where text.hasPrefix(prefix) && text.count > prefix.count:
            self = .command(String(text.dropFirst(prefix.count)))
        case "command", prefix:
            throw UsageError("“\(text)” names no program; give --on command:PROGRAM")
        default:
            let known = ["terminal", "dialog", prefix]
            let hint = Suggestion.text(for: text, among: known).map { "; did you mean “\($0)”?" }
            throw UsageError(
                "there is no presenter “\(text)”; there are \(Self.names)\(hint ?? "")")
        }
    }

    var isCommand: Bool {
        if case .command = self { true } else { false }
    }

    package var name: String {
        switch self {
        case .terminal: "terminal"
        case .dialog: "dialog"
        case .command(let program): "command:" + program
        }
    }
}

/// The presenters that show the same alerts at once.
package struct PresenterSet: Sendable {
    package let kinds: [PresenterKind]

    /// The presenters that `--on` names, each once; the terminal if it names none.
    package init(_ names: [String]) throws(UsageError) {
        var kinds: [PresenterKind] = []
        for name in names {
            let kind = try PresenterKind(name)
            guard !kinds.contains(kind) else {
                throw UsageError("--on \(name) is given twice")
            }
            kinds.append(kind)
        }
        self.kinds = kinds.isEmpty ? [.terminal] : kinds
    }

    /// Whether alerts are drawn on this process's terminal.
    package var usesTerminal: Bool { kinds.contains(.terminal) }

    /// Makes the presenters.
    ///
    /// - Throws: ``UsageError`` or ``CommandError`` for one that can't be used here: why, and what
    ///   to do.
    package func presenters(in context: Context) throws -> [any AlertPresenter] {
        // Lines of a log would be written over the alert.
        let isQuiet = usesTerminal && isatty(STDERR_FILENO) == 1
        let log: @Sendable (String) -> Void = { if !isQuiet { context.note($0) } }
        return try kinds.map { try presenter($0, log) }
    }

    private func presenter(
        _ kind: PresenterKind, _ log: @escaping @Sendable (String) -> Void
    ) throws -> any AlertPresenter {
        do {
            switch kind {
            case .terminal:
                return try TerminalPresenter()
            case .dialog:
                return try DialogPresenter(log: log)
            case .command(let program):
                // The keyboard can belong to one of them only.
                let isFirst = kinds.first(where: \.isCommand) == kind
                return try CommandPresenter(
                    program, usesTerminal: !usesTerminal && isFirst, log: log)
            }
        } catch let error as TerminalError {
            throw CommandError(.inputOutput, "can't use the terminal: \(error)")
        } catch let error as DialogError {
            throw CommandError(.notFound, "--on dialog: \(error)")
        } catch let error as ProgramError {
            throw CommandError(.notFound, "--on \(kind.name): \(error)")
        }
    }
}
