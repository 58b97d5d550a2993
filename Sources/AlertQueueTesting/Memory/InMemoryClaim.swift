import AlertCore
import Synchronization

/// The claim on an alert's response, in a queue in memory.
final class InMemoryClaim: Claim {
    private let core: InMemoryCore
    private let id: Alert.ID
    private let isOver = Mutex(false)

    /// Claims the response; `nil` if it is already claimed.
    init?(of id: Alert.ID, in core: InMemoryCore) {
        guard core.withScreens({ $0.claim(id) }) else { return nil }
        self.core = core
        self.id = id
    }

    deinit { end() }

    /// Always `nil`: no child process can make the claim outlast this process.
    var descriptor: Int32? { nil }

    func end() {
        // A second call must not end the next holder's claim.
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { core.withScreens { [id] in $0.endClaim(id) } }
    }
}
