import AlertCore

/// A screen that is attached to a queue in memory.
final class InMemoryLease: ScreenLease {
    private let core: InMemoryCore
    private let number: Int

    /// Attaches a screen; `nil` if there are too many already.
    init?(of holder: SlotHolder, in core: InMemoryCore, process: Int) {
        guard let number = core.withScreens({ $0.attach(holder, of: process) }) else { return nil }
        self.core = core
        self.number = number
    }

    deinit { release() }

    nonisolated(nonsending) func lead() async -> Bool {
        core.withScreens { [number] in $0.lead(number) }
    }

    nonisolated(nonsending) func waitToLead() async {
        let seen = core.screensChanged.count
        let leader = core.withScreens { $0.leader }
        guard let leader, leader != number else { return }
        await core.screensChanged.wait(after: seen, atMost: .seconds(1))
    }

    var isLeading: Bool { core.withScreens { [number] in $0.leader == number } }

    nonisolated(nonsending) func show(_ alert: Alert.ID?, hasDelegate: Bool) async -> Bool {
        core.withScreens { [number] in $0.show(alert, hasDelegate: hasDelegate, on: number) }
    }

    func stepBack() {
        core.withScreens { [number] in $0.stepBack(number) }
        core.screensChanged.change()
    }

    func release() {
        core.withScreens { [number] in $0.release(number) }
        core.screensChanged.change()
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
