import AlertCore
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// Whether a process that has committed rings for the others, and they hear the ring itself: the
/// slow check once a second, which notices everything too, is excluded here.
@Suite("Ring", .inParallel)
struct RingTests {
    let queue: TemporaryQueue
    let files: QueueFiles

    init() throws {
        queue = try TemporaryQueue()
        files = try QueueFiles(database: queue.path)
    }

    /// Listens to the bell by inotify alone.
    private func listener() -> (watch: QueueWatch, bell: Bell, rings: ChangeSignal) {
        let rings = ChangeSignal()
        let bell = Bell(path: files.bell, mode: 0o600)
        bell.listen()
        let watch = QueueWatch(files: files) {
            rings.change()
        } onSlot: {
        } onTick: {
        }
        watch.start()
        return (watch, bell, rings)
    }

    /// Runs a commit, and expects that it rings the bell.
    private func expectRing(_ body: () async throws -> Void) async throws {
        let (watch, bell, rings) = listener()
        let before = rings.count
        try await body()
        #expect(await eventually { rings.count > before })
        withExtendedLifetime(bell) { watch.stop() }
    }

    @Test("Every kind of commit by a store rings the bell")
    func groupCommit() async throws {
        let store = try await queue.store()
        var id: Alert.ID = 0
        try await expectRing { id = try await store.ask(.yesNo()).id }
        try await expectRing { _ = try await store.snooze(id, for: nil, by: .ana) }
        try await expectRing { try await store.answer(id, 0) }
        // This one is deferred.
        try await expectRing { store.post(.collected(id), by: .ana) }
        await store.close()
    }

    @Test("Storing an alert without a store rings the bell")
    func atOnce() async throws {
        try await queue.store().close()
        let question = Question(alert: Alert("Done"), source: "test")
        try await expectRing {
            _ = try #require(
                try SQLiteAlertStore.enqueueAtOnce(question, by: .ana, path: queue.path))
        }
    }

    @Test("A store that waits for news hears the ring, and does not wait for its slow check")
    func heard() async throws {
        let listening = try await queue.store()
        let store = try await queue.store()
        // From here on it is listening.
        var position = try await listening.news(
            after: LogPosition(.start), of: .others
        ).position
        let start = ContinuousClock.now
        for round in 0..<10 {
            try await store.ask(.yesNo("\(round)"))
            var (titles, hasChanged) = ([String?](), false)
            // It also returns once a second, and then the ring may not have come yet.
            while !hasChanged, ContinuousClock.now - start < .seconds(5) {
                let news = try await listening.news(after: position, of: .others)
                (position, hasChanged) = (news.position, news.hasChanged)
                titles += news.events.map(\.title)
            }
            #expect(hasChanged && titles == ["\(round)"])
        }
        // With slow checks alone each round would take a second.
        #expect(ContinuousClock.now - start < .seconds(5))
        await store.close()
        await listening.close()
    }
}
