import AlertCore
import Synchronization

/// The turn of an alert's handler, in a queue in memory.
final class InMemoryTurn: HandlerTurn {
    private let core: InMemoryCore
    private let id: Alert.ID
    private let isOver = Mutex(false)

    /// Takes the turn; `nil` if it is already taken.
    init?(of id: Alert.ID, in core: InMemoryCore) {
        guard core.withScreens({ $0.takeTurn(id) }) else { return nil }
        self.core = core
        self.id = id
    }

    deinit { end() }

    /// Always `nil`: no child process can make the turn outlast this process.
    var descriptor: Int32? { nil }

    func end() {
        // A second call must not end the next holder's turn.
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { core.withScreens { [id] in $0.endTurn(id) } }
    }
}
