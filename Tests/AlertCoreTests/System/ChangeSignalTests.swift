import TestSupport
import Testing

@testable import AlertCore

@Suite("Change signal", .inParallel)
struct ChangeSignalTests {
    let signal = ChangeSignal()

    /// Waits in a task of its own; the flag tells when the wait is over.
    private func wait(after count: UInt64) -> (task: Task<Void, Never>, isOver: ChangeSignal) {
        let isOver = ChangeSignal()
        let task = Task { [signal] in
            await signal.wait(after: count)
            isOver.change()
        }
        return (task, isOver)
    }

    @Test("A change between the look at the count and the wait is not missed")
    func changedBefore() async {
        let seen = signal.count
        signal.change()
        let (task, isOver) = wait(after: seen)
        #expect(await eventually { isOver.count == 1 })
        task.cancel()
    }

    @Test("A change lets everybody go on who waits")
    func everybody() async {
        let waits = (0..<10).map { _ in wait(after: signal.count) }
        // A caller that begins to wait only now has missed nothing.
        signal.change()
        #expect(await eventually { waits.allSatisfy { $0.isOver.count == 1 } })
        #expect(signal.count == 1)
        for wait in waits { wait.task.cancel() }
    }

    @Test("A nudge ends a wait, and is no change")
    func nudge() async {
        let (task, isOver) = wait(after: signal.count)
        #expect(
            await eventually {
                signal.nudge()
                return isOver.count == 1
            })
        #expect(signal.count == 0)
        task.cancel()
    }

    @Test("A wait whose task is cancelled ends")
    func cancelled() async {
        let (task, isOver) = wait(after: signal.count)
        task.cancel()
        #expect(await eventually { isOver.count == 1 })
    }
}
