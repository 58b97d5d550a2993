import Synchronization

/// The lease of an asker that waits, also while the server of its queue is away: whenever it is not
/// held, it is made as soon as the server is there and nobody else has it.
final class AskerLease: AlertLease {
    typealias Attempt =
        @Sendable () async throws(AlertError) -> (any AlertLease)?

    private enum State {
        case held(any AlertLease)
        case lost
        case ended
    }

    private let state: Mutex<State>
    private let attempt: Attempt

    /// - Parameters:
    ///   - lease: The lease, if it is held already.
    ///   - attempt: Takes the lease; returns `nil` while somebody else has it.
    init(_ lease: (any AlertLease)? = nil, making attempt: @escaping Attempt) {
        state = Mutex(lease.map(State.held) ?? .lost)
        self.attempt = attempt
        if let lease { watch(lease) } else { makeIt() }
    }

    deinit { end() }

    private var held: (any AlertLease)? {
        state.withLock { state in
            guard case .held(let lease) = state else { return nil }
            return lease
        }
    }

    var descriptor: Int32? { held?.descriptor }
    var epoch: Epoch? { held?.epoch }
    var isHeld: Bool { held != nil }

    /// It is never lost for good.
    func whenLost(_ body: @escaping @Sendable () -> Void) {}

    private func watch(_ lease: any AlertLease) {
        lease.whenLost { [weak self] in
            self?.state.withLock { if case .held = $0 { $0 = .lost } }
            self?.makeIt()
        }
    }

    /// Takes the lease: at once, where that waits for nobody, and otherwise without anybody waiting.
    private func makeIt() {
        Task.immediate { [weak self] in
            while await self?.isToBeTriedAgain() == true {
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Tries to take the lease; returns whether that may succeed later.
    private func isToBeTriedAgain() async -> Bool {
        guard isLost else { return false }
        do throws(AlertError) {
            guard let lease = try await attempt() else { return true }
            hold(lease)
            return false
        } catch {
            return error.mayPass
        }
    }

    private func hold(_ lease: any AlertLease) {
        let isWanted = state.withLock { state in
            guard case .lost = state else { return false }
            state = .held(lease)
            return true
        }
        if isWanted { watch(lease) } else { lease.end() }
    }

    private var isLost: Bool {
        state.withLock { if case .lost = $0 { true } else { false } }
    }

    func end() {
        let lease = state.withLock { state -> (any AlertLease)? in
            defer { state = .ended }
            guard case .held(let lease) = state else { return nil }
            return lease
        }
        lease?.end()
    }
}
