import AlertQueue
import Synchronization

/// The last ten errors that could not be printed while an alert was on the terminal: they are once
/// none is.
final class DeferredErrors: Sendable {
    private let lines = Mutex<[String]>([])
    private let turn: PresentationTurn
    private let context: Context

    /// - Parameter turn: The turn of those that use the terminal.
    init(printingBy turn: PresentationTurn, in context: Context) {
        self.turn = turn
        self.context = context
    }

    func keep(_ error: BackgroundError) {
        let isFirst = lines.withLock { lines in
            defer { lines = (lines + [error.description]).suffix(10) }
            return lines.isEmpty
        }
        guard isFirst else { return }
        Task {
            guard await turn.take() else { return }
            print()
            turn.end()
        }
    }

    /// Prints them now.
    func print() {
        let lines = lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
        for line in lines { context.note(line) }
    }
}
