import AlertQueue
import AlertQueueTesting
import ProcessTesting
import Synchronization
import TestSupport
import Testing

@Suite("Manual clock", .inParallel)
struct ManualClockTests {
    let clock = ManualClock()

    /// Sleeps in a task of its own, and sets the flag at the end.
    private func sleep(_ body: @escaping @Sendable () async throws -> Void) -> (
        task: Task<Void, any Error>, isOver: Flag
    ) {
        let isOver = Flag()
        let task = Task {
            try await body()
            isOver.set()
        }
        return (task, isOver)
    }

    @Test("A sleep until a moment that the clock passed before it began is over at once")
    func passedBefore() async throws {
        let end = clock.now().advanced(by: .seconds(5))
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: end)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A sleep until a moment counts what the clock was moved before it began")
    func movedBefore() async throws {
        let end = clock.now().advanced(by: .seconds(5))
        clock.advance(by: .seconds(2))
        let (task, isOver) = sleep { [clock] in try await clock.sleep(until: end) }
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .milliseconds(2999))
        #expect(clock.sleeperCount == 1 && !isOver.isSet)
        clock.advance(by: .milliseconds(1))
        try await task.value
        #expect(clock.sleeperCount == 0)
    }

    @Test("A sleep for a length begins when it is called")
    func length() async throws {
        clock.advance(by: .seconds(2))
        let (task, isOver) = sleep { [clock] in try await clock.sleep(for: .seconds(5)) }
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .milliseconds(4999))
        #expect(clock.sleeperCount == 1 && !isOver.isSet)
        clock.advance(by: .milliseconds(1))
        try await task.value
    }

    @Test("A moment of another boot is reached by the wall clock")
    func otherBoot() async throws {
        var end = clock.now().advanced(by: .seconds(5))
        end.boot = "another"
        end.bootMilliseconds = 0
        let task = Task { [clock, end] in try await clock.sleep(until: end) }
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .milliseconds(4999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        try await task.value
    }

    @Test("A cancelled sleep throws, whether it was cancelled before or after it began")
    func cancelled() async throws {
        let end = clock.now().advanced(by: .seconds(5))
        let before = Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(until: end)
        }
        await #expect(throws: CancellationError.self) { try await before.value }
        let after = Task { [clock] in try await clock.sleep(until: end) }
        #expect(await eventually { clock.sleeperCount == 1 })
        after.cancel()
        await #expect(throws: CancellationError.self) { try await after.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A clock that knows only lengths sleeps until a moment by the length that is left")
    func defaultImplementation() async throws {
        final class Lengths: AlertClock {
            let slept = Mutex<[Duration]>([])
            let manual = ManualClock()
            func now() -> ClockReading { manual.now() }
            func sleep(for duration: Duration) async throws {
                slept.withLock { $0.append(duration) }
            }
        }
        let clock = Lengths()
        let end = clock.now().advanced(by: .seconds(5))
        clock.manual.advance(by: .seconds(2))
        try await clock.sleep(until: end)
        #expect(clock.slept.withLock { $0 } == [.seconds(3)])
    }
}
