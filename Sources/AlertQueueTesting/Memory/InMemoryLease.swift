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

    nonisolated(nonsending) func lead() async -> Bool {
        core.withScreens { [number] in $0.lead(number) }
    }

    var isLeading: Bool { core.withScreens { [number] in $0.leader == number } }

    var others: ScreenRoster? {
        core.withScreens { [number] in
            $0.isAttached(number) ? $0.roster(besides: number) : nil
        }
    }

    nonisolated(nonsending) func lookAtOthers() async -> ScreenRoster? { others }

    var changeCount: UInt64 { core.screensChanged.count }

    nonisolated(nonsending) func waitForChange(after count: UInt64) async {
        await core.screensChanged.wait(after: count, atMost: .seconds(1))
    }

    nonisolated(nonsending) func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool
    ) async -> Bool {
        change { $0.show(alert, current: current, hasDelegate: hasDelegate, on: $1) }
    }

    func offer(_ presenters: [String], isBusy: Bool) {
        change { $0.offer(presenters, isBusy: isBusy, on: $1) }
    }

    func stepBack() { change { $0.stepBack($1) } }

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

extension ChangeSignal {
    /// Waits until the count is no longer `seen`, a length of time has passed, or the task is
    /// cancelled.
    nonisolated(nonsending) func wait(after seen: UInt64, atMost time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(after: seen) }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }
}
