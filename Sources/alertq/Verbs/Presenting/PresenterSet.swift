import AlertPresenters
import AlertQueue
import Glibc
import TextFormats

/// The presenters that show the same alerts at once.
struct PresenterSet: Sendable {
    /// The help for `--plain`.
    static let plainHelp =
        "On the terminal, print alerts as numbered lines that are never redrawn"

    let kinds: [PresenterKind]
    /// Whether the terminal shows alerts as numbered lines.
    private let isPlain: Bool

    init(_ kinds: [PresenterKind], isPlain: Bool = false) {
        self.kinds = kinds
        self.isPlain = isPlain
    }

    /// Whether alerts are drawn on this process's terminal.
    var usesTerminal: Bool { kinds.contains(.terminal) }

    /// The words that give another process the same presenters, wherever it is started.
    ///
    /// - Throws: ``CommandError`` for a program that is not there.
    func words() throws(CommandError) -> [String] {
        var words: [String] = []
        for kind in kinds {
            var name = kind.name
            if case .command(let program) = kind {
                guard let path = ProgramSearch.path(of: program) else {
                    throw CommandError(.notFound, "\(ProgramError.notFound(program: program))")
                }
                name = PresenterKind.command(QueueChoice.absolute(path)).name
            }
            words += ["--on", name]
        }
        return words
    }

    /// Makes the presenters, for each queue by its path.
    ///
    /// - Throws: ``CommandError`` for one that can't be used here: why, and what to do.
    func presenters(
        in context: Context
    ) throws -> @Sendable (_ path: String) -> [any AlertPresenter] {
        // Log lines would overwrite the alert.
        let hasAlertsOnErrors = usesTerminal && isatty(STDERR_FILENO) == 1
        let log: @Sendable (String) -> Void = { if !hasAlertsOnErrors { context.note($0) } }
        let makers = try kinds.map { kind in
            do {
                return try maker(kind, log)
            } catch {
                let code: ExitCode =
                    switch error {
                    case is TerminalError: .inputOutput
                    case DesktopError.noLibrary: .unavailable
                    default: .notFound
                    }
                throw CommandError(code, "--on \(kind.name): \(error)")
            }
        }
        return { path in makers.map { $0(path) } }
    }

    /// Why the first presenter can't be used here; `nil` if it can.
    var problem: String? {
        do {
            _ = try kinds.first.map { try maker($0) { _ in } }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Tries a presenter, and returns a function that gives it to the queue at a path.
    private func maker(
        _ kind: PresenterKind, _ log: @escaping @Sendable (String) -> Void
    ) throws -> @Sendable (_ path: String) -> any AlertPresenter {
        switch kind {
        case .terminal:
            let presenter = try TerminalPresenter(isPlain: isPlain)
            return { _ in presenter }
        case .desktop:
            let presenter = try DesktopPresenter(log: log)
            return { path in
                presenter.answering { ShellText.answer($0, button: $1, fields: $2, path: path) }
            }
        case .dialog:
            let presenter = try DialogPresenter(log: log)
            return { _ in presenter }
        case .command(let program):
            // The keyboard can belong to one of them only.
            let isFirst = kinds.first(where: \.isCommand) == kind
            let presenter = try CommandPresenter(
                program, usesTerminal: !usesTerminal && isFirst, log: log)
            return { _ in presenter }
        }
    }
}
