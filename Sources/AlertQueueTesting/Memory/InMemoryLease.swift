import AlertCore

/// The attachment of a screen to a queue in memory.
final class InMemoryLease: ScreenLease {
    private let core: InMemoryCore
    private let number: Int

    /// Attaches a screen; `nil` if too many are attached already.
    init?(of screen: AttachedScreen, in core: InMemoryCore, process: Int) {
        guard let number = core.withScreens({ $0.attach(screen, of: process) }) else { return nil }
        self.core = core
        self.number = number
        core.screensChanged.change()
    }

    deinit { release() }

    var epoch: Epoch { Epoch(UInt64(number)) }

    nonisolated(nonsending) func announce(
        _ screen: AttachedScreen, wantsLead: Bool
    ) async -> LeaseState {
        change { $0.announce(screen, wantsLead: wantsLead, on: $1) }
    }

    nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState {
        let count = core.screensChanged.count
        let now = change { $0.state(of: $1) }
        guard now == seen else { return now }
        await core.screensChanged.wait(after: count, atMost: .seconds(1))
        return change { $0.state(of: $1) }
    }

    func release() { change { $0.release($1) } }

    /// Changes this screen, and notifies the others if it is different now.
    private func change<Result: Sendable>(
        _ body: (inout InMemoryScreens, _ number: Int) -> Result
    ) -> Result {
        let (result, isNew) = core.withScreens { [number] screens in
            let before = screens.roster()
            let result = body(&screens, number)
            return (result, screens.roster() != before)
        }
        if isNew { core.screensChanged.change() }
        return result
    }
}
