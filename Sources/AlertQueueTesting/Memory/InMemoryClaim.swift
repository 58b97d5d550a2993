import AlertCore
import Synchronization

/// A claim on an alert in a queue in memory.
final class InMemoryClaim: Claim {
    private let core: InMemoryCore
    private let id: Alert.ID
    private let purpose: ClaimPurpose
    private let isOver = Mutex(false)

    /// Claims the alert; `nil` if somebody else has the claim that only one can have.
    init?(of id: Alert.ID, for purpose: ClaimPurpose, in core: InMemoryCore) {
        guard core.withScreens({ $0.claim(id, for: purpose) }) else { return nil }
        self.core = core
        self.id = id
        self.purpose = purpose
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
        if isFirst { core.withScreens { [id, purpose] in $0.endClaim(id, for: purpose) } }
    }
}
