import AlertCore
import Synchronization

/// A claim on a service. It belongs to a connection, and is lost with it: somebody else may have it
/// next.
final class ServiceClaim: Claim {
    private enum Phase {
        /// With what is called when it is lost.
        case held((@Sendable () -> Void)?)
        case lost
        case ended
    }

    let epoch: Epoch?
    private let number: Int
    private let link: Int
    private let connection: ServiceConnection
    private let claims: ServiceClaims
    private let phase = Mutex(Phase.held(nil))

    fileprivate init(
        _ granted: GrantedClaim, on link: Int, of connection: ServiceConnection,
        in claims: ServiceClaims
    ) {
        (number, epoch) = (granted.number, granted.epoch)
        self.link = link
        self.connection = connection
        self.claims = claims
    }

    deinit { end() }

    var descriptor: Int32? { nil }

    var isHeld: Bool { phase.withLock { if case .held = $0 { true } else { false } } }

    func whenLost(_ body: @escaping @Sendable () -> Void) {
        let isLost = phase.withLock { phase in
            if case .held = phase { phase = .held(body) }
            return if case .lost = phase { true } else { false }
        }
        if isLost { return body() }
        // One that gives a right may also be lost by the service.
        guard epoch != nil else { return }
        connection.call(.claimEnd(number), on: link) { [weak self] reply in
            if case .success = reply { self?.lose() }
        }
    }

    func end() {
        guard leave(for: .ended) != nil else { return }
        connection.call(.endClaim(number), on: link) { _ in }
    }

    fileprivate func lose() { (leave(for: .lost) ?? nil)?() }

    /// Leaves the claim for another phase; `nil` if it is over already, else what is called when it
    /// is lost.
    private func leave(for next: Phase) -> (@Sendable () -> Void)?? {
        let onLoss = phase.withLock { phase -> (@Sendable () -> Void)?? in
            guard case .held(let onLoss) = phase else { return nil }
            phase = next
            return .some(onLoss)
        }
        if onLoss != nil { claims.remove(ObjectIdentifier(self)) }
        return onLoss
    }
}

/// The claims that a process holds on a service.
final class ServiceClaims: Sendable {
    private struct Weak { weak var claim: ServiceClaim? }

    private let held = Mutex<[ObjectIdentifier: Weak]>([:])

    /// Holds a claim that was granted over a connection.
    func add(
        _ granted: GrantedClaim, on link: Int, of connection: ServiceConnection
    ) -> ServiceClaim {
        let claim = ServiceClaim(granted, on: link, of: connection, in: self)
        held.withLock { $0[ObjectIdentifier(claim)] = Weak(claim: claim) }
        // The connection may have been lost before that.
        if !connection.isCurrent(link) { claim.lose() }
        return claim
    }

    fileprivate func remove(_ claim: ObjectIdentifier) {
        held.withLock { _ = $0.removeValue(forKey: claim) }
    }

    /// Notes that the connection is lost.
    func loseAll() {
        for claim in held.withLock({ $0.values.compactMap(\.claim) }) { claim.lose() }
    }
}
