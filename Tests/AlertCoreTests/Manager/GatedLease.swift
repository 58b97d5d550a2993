@testable import AlertCore

/// A screen of a ``GatedStore``, whose waits a test can count or hold.
final class GatedLease: ScreenLease {
    let lease: any ScreenLease
    let willWait: @Sendable () async -> Void

    init(lease: any ScreenLease, willWait: @escaping @Sendable () async -> Void) {
        self.lease = lease
        self.willWait = willWait
    }

    var epoch: Epoch { lease.epoch }

    nonisolated(nonsending) func announce(
        _ screen: AttachedScreen, wantsLead: Bool
    ) async -> LeaseState {
        await lease.announce(screen, wantsLead: wantsLead)
    }

    nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState {
        await willWait()
        return await lease.state(after: seen)
    }

    func release() { lease.release() }
}
