import AlertCore
import Glibc
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Queue watch", .inParallel)
struct QueueWatchTests {
    let queue: TemporaryQueue
    let files: QueueFiles

    init() throws {
        queue = try TemporaryQueue()
        files = try QueueFiles(database: queue.path)
    }

    private func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("A watch hears each ring until it is stopped, and none afterwards")
    func rings() async throws {
        let bell = Bell(path: files.bell, mode: 0o600)
        let rings = Mutex(0)
        let watch = QueueWatch(
            files: files, onBell: { rings.withLock { $0 += 1 } }, onSlot: {}, onTick: {})
        let listener = Bell(path: files.bell, mode: 0o600)
        listener.listen()
        watch.start()
        for count in 1...3 {
            bell.ring()
            #expect(await eventually { rings.withLock { $0 } == count })
        }
        watch.stop()
        let before = rings.withLock { $0 }
        bell.ring()
        let second = QueueWatch(
            files: files, onBell: { rings.withLock { $0 += 1 } }, onSlot: {}, onTick: {})
        second.start()
        bell.ring()
        #expect(await eventually { rings.withLock { $0 } > before })
        #expect(rings.withLock { $0 } == before + 1)
        second.stop()
    }

    @Test(
        "A watch that nobody refers to any more does not spin when the bell rings",
        .alone(because: "It measures the processor time of this process."))
    func gone() async throws {
        let bell = Bell(path: files.bell, mode: 0o600)
        let listener = Bell(path: files.bell, mode: 0o600)
        listener.listen()
        for _ in 0..<10 {
            QueueWatch(files: files, onBell: {}, onSlot: {}, onTick: {}).start()
        }
        let start = ContinuousClock.now
        let used = processorTime()
        // A spin lasted until the watch would have looked around by itself, a second later.
        while ContinuousClock.now < start + .milliseconds(500) {
            bell.ring()
            try await Task.sleep(for: .milliseconds(20))
        }
        let share = (processorTime() - used) / (ContinuousClock.now - start)
        #expect(share < 0.2)
    }
}
