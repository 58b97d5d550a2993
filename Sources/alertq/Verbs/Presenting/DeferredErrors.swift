import AlertQueue
import Synchronization

/// The last ten errors that could not be printed while alerts were on the terminal.
final class DeferredErrors: Sendable {
    private let lines = Mutex<[String]>([])

    func keep(_ error: BackgroundError) {
        lines.withLock { $0 = ($0 + [error.description]).suffix(10) }
    }

    func print(_ context: Context) {
        for line in lines.withLock({ $0 }) { context.note(line) }
    }
}
