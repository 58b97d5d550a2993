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

    @Test("A watch reports each ring until it is stopped, and none afterwards")
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
        "A watch that is no longer referenced does not spin when the bell rings",
        .alone(because: "It measures the processor time of this process."))
    func gone() async throws {
        let bell = Bell(path: files.bell, mode: 0o600)
        let listener = Bell(path: files.bell, mode: 0o600)
        listener.listen()
        // At the start of a run, the process is busy with beginning the other tests.
        #expect(try await eventually { try await share(within: .milliseconds(200)) {} < 0.1 })
        for _ in 0..<10 {
            QueueWatch(files: files, onBell: {}, onSlot: {}, onTick: {}).start()
        }
        // The spin used to last until the watch's own check, a second later.
        #expect(try await share(within: .milliseconds(500)) { bell.ring() } < 0.2)
    }

    /// The share of a processor that this process uses while a closure runs every 20 ms.
    private func share(within time: Duration, _ body: () -> Void) async throws -> Double {
        let start = ContinuousClock.now
        let used = processorTime()
        while ContinuousClock.now < start + time {
            body()
            try await Task.sleep(for: .milliseconds(20))
        }
        return (processorTime() - used) / (ContinuousClock.now - start)
    }
}
