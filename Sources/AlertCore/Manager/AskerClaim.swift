import Synchronization

/// The claim of an asker that waits, also while the server of its queue is away: whenever it is not
/// held, it is made as soon as the server is there and nobody else has it.
final class AskerClaim: Claim {
    typealias Attempt =
        @Sendable () async throws(AlertError) -> (any Claim)?

    private enum State {
        case held(any Claim)
        case lost
        case ended
    }

    private let state: Mutex<State>
    private let attempt: Attempt

    /// - Parameters:
    ///   - claim: The claim, if it is held already.
    ///   - attempt: Makes the claim; returns `nil` while somebody else has it.
    init(_ claim: (any Claim)? = nil, making attempt: @escaping Attempt) {
        state = Mutex(claim.map(State.held) ?? .lost)
        self.attempt = attempt
        if let claim { watch(claim) } else { makeIt() }
    }

    deinit { end() }

    private var held: (any Claim)? {
        state.withLock { state in
            guard case .held(let claim) = state else { return nil }
            return claim
        }
    }

    var descriptor: Int32? { held?.descriptor }
    var epoch: Epoch? { held?.epoch }
    var isHeld: Bool { held != nil }

    /// It is never lost for good.
    func whenLost(_ body: @escaping @Sendable () -> Void) {}

    private func watch(_ claim: any Claim) {
        claim.whenLost { [weak self] in
            self?.state.withLock { if case .held = $0 { $0 = .lost } }
            self?.makeIt()
        }
    }

    /// Makes the claim: at once, where that waits for nobody, and otherwise without anybody waiting.
    private func makeIt() {
        Task.immediate { [weak self] in
            while await self?.isToBeTriedAgain() == true {
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Tries to make the claim; returns whether that may succeed later.
    private func isToBeTriedAgain() async -> Bool {
        guard isLost else { return false }
        do throws(AlertError) {
            guard let claim = try await attempt() else { return true }
            hold(claim)
            return false
        } catch {
            return error.mayPass
        }
    }

    private func hold(_ claim: any Claim) {
        let isWanted = state.withLock { state in
            guard case .lost = state else { return false }
            state = .held(claim)
            return true
        }
        if isWanted { watch(claim) } else { claim.end() }
    }

    private var isLost: Bool {
        state.withLock { if case .lost = $0 { true } else { false } }
    }

    func end() {
        let claim = state.withLock { state -> (any Claim)? in
            defer { state = .ended }
            guard case .held(let claim) = state else { return nil }
            return claim
        }
        claim?.end()
    }
}
