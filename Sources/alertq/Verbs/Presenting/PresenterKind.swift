import AlertPresenters
import AlertQueue
import Glibc

/// A presenter as `--on` names it.
package enum PresenterKind: Sendable, Hashable {
    case terminal
    /// Notifications of the desktop.
    case desktop
    /// Windows of the desktop's dialog program.
    case dialog
    /// A program of the user's own.
    case command(String)

    #if Desktop
        package static let hasDesktop = true
    #else
        package static let hasDesktop = false
    #endif
    /// How to get what this build may not have.
    package static let desktopAdvice =
        "this alertq was built without desktop notifications; with libsystemd-dev installed, "
        + "build it anew: swift build -c release --product alertq --traits Desktop"

    /// What may be given, for help and errors.
    package static let names = "terminal, desktop, dialog, command:PROGRAM"

    /// What a shell offers.
    package static let words = ["terminal", "desktop", "dialog", "command:"]

    package init(_ text: String) throws(UsageError) {
        let prefix = "command:"
        switch text {
        case "terminal": self = .terminal
        case "desktop": self = .desktop
        case "dialog": self = .dialog
        case let text where text.hasPrefix(prefix) && text.count > prefix.count:
            self = .command(String(text.dropFirst(prefix.count)))
        case "command", prefix:
            throw UsageError("“\(text)” names no program; give --on command:PROGRAM")
        default:
            let hint = Suggestion.text(for: text, among: Self.words).map {
                "; did you mean “\($0)”?"
            }
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
        case .desktop: "desktop"
        case .dialog: "dialog"
        case .command(let program): "command:" + program
        }
    }
}

/// The presenters that show the same alerts at once.
package struct PresenterSet: Sendable {
    package let kinds: [PresenterKind]
    /// Whether the terminal shows alerts as numbered lines.
    private let isPlain: Bool

    package init(_ kinds: [PresenterKind]) {
        self.kinds = kinds
        isPlain = false
    }

    /// The presenters that `--on` names, each once; the terminal if it names none.
    package init(names: [String], isPlain: Bool = false) throws(UsageError) {
        self.isPlain = isPlain
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

    /// The words that give another process the same presenters, wherever it is started.
    ///
    /// - Throws: ``CommandError`` for a program that is not there.
    package func words() throws(CommandError) -> [String] {
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
    package func presenters(
        in context: Context
    ) throws -> @Sendable (_ path: String) -> [any AlertPresenter] {
        // Lines of a log would be written over the alert.
        let isQuiet = usesTerminal && isatty(STDERR_FILENO) == 1
        let log: @Sendable (String) -> Void = { if !isQuiet { context.note($0) } }
        let makers = try kinds.map { kind in
            do {
                return try maker(kind, log)
            } catch {
                let isSystem = error is TerminalError
                throw CommandError(
                    isSystem ? .inputOutput : .notFound, "--on \(kind.name): \(error)")
            }
        }
        return { path in makers.map { $0(path) } }
    }

    /// Why the first presenter can't be used here; `nil` if it can.
    package var problem: String? {
        do {
            _ = try kinds.first.map { try maker($0) { _ in } }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Tries a presenter, and returns what gives one for a queue.
    private func maker(
        _ kind: PresenterKind, _ log: @escaping @Sendable (String) -> Void
    ) throws -> @Sendable (_ path: String) -> any AlertPresenter {
        switch kind {
        case .terminal:
            let presenter = try TerminalPresenter(isPlain: isPlain)
            return { _ in presenter }
        case .desktop:
            return try desktop(log)
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

    #if Desktop
        private func desktop(
            _ log: @escaping @Sendable (String) -> Void
        ) throws -> @Sendable (_ path: String) -> any AlertPresenter {
            let presenter = try DesktopPresenter(log: log)
            return { path in
                presenter.answering { ShellText.answer($0, button: $1, path: path) }
            }
        }
    #else
        private func desktop(
            _ log: @escaping @Sendable (String) -> Void
        ) throws -> @Sendable (_ path: String) -> any AlertPresenter {
            throw CommandError(.notFound, PresenterKind.desktopAdvice)
        }
    #endif
}
