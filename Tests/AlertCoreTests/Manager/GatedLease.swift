@testable import AlertCore

/// A screen of a ``GatedStore``, whose waits a test can count or hold.
struct GatedLease: ScreenLease {
    let lease: any ScreenLease
    let willWait: @Sendable () async -> Void

    nonisolated(nonsending) func lead() async -> Bool { await lease.lead() }
    var isLeading: Bool { lease.isLeading }
    var others: ScreenRoster? { lease.others }
    nonisolated(nonsending) func lookAtOthers() async -> ScreenRoster? {
        await lease.lookAtOthers()
    }
    var changeCount: UInt64 { lease.changeCount }

    nonisolated(nonsending) func waitForChange(after count: UInt64) async {
        await willWait()
        await lease.waitForChange(after: count)
    }

    nonisolated(nonsending) func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool
    ) async -> Bool {
        await lease.show(alert, current: current, hasDelegate: hasDelegate)
    }

    func offer(_ presenters: [String], isBusy: Bool) {
        lease.offer(presenters, isBusy: isBusy)
    }

    func stepBack() { lease.stepBack() }
    func release() { lease.release() }
}
