import AlertCore
import Synchronization

/// A lease on a service. It belongs to a connection, and is lost with it: somebody else may have it
/// next.
final class ServiceAlertLease: AlertLease {
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
    private let leases: ServiceAlertLeases
    private let phase = Mutex(Phase.held(nil))

    fileprivate init(
        _ granted: GrantedLease, on link: Int, of connection: ServiceConnection,
        in leases: ServiceAlertLeases
    ) {
        (number, epoch) = (granted.number, granted.epoch)
        self.link = link
        self.connection = connection
        self.leases = leases
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
        connection.call(.waitForLeaseEnd(number), on: link) { [weak self] reply in
            if case .success = reply { self?.lose() }
        }
    }

    func end() {
        guard leave(for: .ended) != nil else { return }
        connection.call(.endLease(number), on: link) { _ in }
    }

    fileprivate func lose() { (leave(for: .lost) ?? nil)?() }

    /// Leaves the lease for another phase; `nil` if it is over already, else what is called when it
    /// is lost.
    private func leave(for next: Phase) -> (@Sendable () -> Void)?? {
        let onLoss = phase.withLock { phase -> (@Sendable () -> Void)?? in
            guard case .held(let onLoss) = phase else { return nil }
            phase = next
            return .some(onLoss)
        }
        if onLoss != nil { leases.remove(ObjectIdentifier(self)) }
        return onLoss
    }
}

/// The leases that a process holds on a service.
final class ServiceAlertLeases: Sendable {
    private struct Weak { weak var lease: ServiceAlertLease? }

    private let held = Mutex<[ObjectIdentifier: Weak]>([:])

    /// Holds a lease that was granted over a connection.
    func add(
        _ granted: GrantedLease, on link: Int, of connection: ServiceConnection
    ) -> ServiceAlertLease {
        let lease = ServiceAlertLease(granted, on: link, of: connection, in: self)
        held.withLock { $0[ObjectIdentifier(lease)] = Weak(lease: lease) }
        // The connection may have been lost before that.
        if !connection.isCurrent(link) { lease.lose() }
        return lease
    }

    fileprivate func remove(_ lease: ObjectIdentifier) {
        held.withLock { _ = $0.removeValue(forKey: lease) }
    }

    /// Notes that the connection is lost.
    func loseAll() {
        for lease in held.withLock({ $0.values.compactMap(\.lease) }) { lease.lose() }
    }
}
