import AlertQueue
import TextFormats

/// A presenter as `--on` names it.
enum PresenterKind: Sendable, Hashable {
    case terminal
    /// Notifications of the desktop.
    case desktop
    /// Windows of the desktop's dialog program.
    case dialog
    /// A program of the user's own.
    case command(String)

    /// What may be given, for help and errors.
    static let names = "terminal, desktop, dialog, command:PROGRAM"

    /// What a shell offers.
    static let words = ["terminal", "desktop", "dialog", commandPrefix]
    /// What precedes the program of the user's own.
    static let commandPrefix = "command:"

    init(_ text: String) throws(UsageError) {
        let prefix = Self.commandPrefix
        switch text {
        case "terminal": self = .terminal
        case "desktop": self = .desktop
        case "dialog": self = .dialog
        case let text where text.hasPrefix(prefix) && text.count > prefix.count:
            self = .command(String(text.dropFirst(prefix.count)))
        case "command", prefix:
            throw UsageError("“\(text)” names no program; give command:PROGRAM")
        default:
            let hint = Suggestion.hint(for: text, among: Self.words)
            throw UsageError("there is no presenter “\(text)”; choose one of \(Self.names)\(hint)")
        }
    }

    var isCommand: Bool {
        if case .command = self { true } else { false }
    }

    var name: String {
        switch self {
        case .terminal: "terminal"
        case .desktop: "desktop"
        case .dialog: "dialog"
        case .command(let program): Self.commandPrefix + program
        }
    }
}

extension Argument where Value == String {
    /// The name of any presenter, also of one that only another program has.
    static var presenterName: Argument { text("PRESENTER", .presenter) }
}

extension Argument where Value == PresenterKind {
    /// A presenter that this command has.
    static var presenter: Argument {
        Argument("PRESENTER", .presenter) { text throws(UsageError) in
            try PresenterKind(text)
        }
    }
}
