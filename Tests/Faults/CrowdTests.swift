import Foundation
import Glibc
import ProcessTesting
import Synchronization
import TestSupport
import Testing

@Suite("Crowd", .inParallel)
final class CrowdTests: Sendable {
    private let queue: CommandLineQueue
    private let ledger = Ledger()
    private let waits = Mutex<[Double]>([])

    init() throws { queue = try CommandLineQueue() }

    @Test("Eight processes that ask, answer, verify and checkpoint at once leave the queue clean")
    func crowd() async throws {
        let seconds = FaultForm.count(short: 10, full: 600)
        let limit = ContinuousClock.now + .seconds(seconds)
        try await withThrowingTaskGroup { group in
            for number in 0..<3 { group.addTask { try await self.ask(number, until: limit) } }
            for number in 0..<3 { group.addTask { try await self.answer(number, until: limit) } }
            group.addTask { try await self.verify(until: limit) }
            group.addTask { try await self.checkpoint(until: limit) }
            try await group.waitForAll()
        }
        let times = waits.withLock { $0.sorted() }
        let all = ledger.all
        #expect(!all.asked.isEmpty && !all.answered.isEmpty)
        let (half, late) = (times[times.count / 2], times[times.count * 99 / 100])
        print(
            "Crowd: \(all.asked.count) asked, \(all.answered.count) answered in \(seconds) s; "
                + "waits p50 \(half) ms, p99 \(late) ms, max \(times.last ?? 0) ms")
        #expect(!FaultForm.isFull || late < 2000)
        #expect(try await queue.faults(against: ledger) == [])
    }

    private func ask(_ number: Int, until limit: ContinuousClock.Instant) async throws {
        let client = try await QueueClient(on: queue, source: "asker \(number)")
        var count = 0
        while ContinuousClock.now < limit {
            count += 1
            let title = "Question \(number).\(count)"
            let asked = try await client.ask("ask", ["title": title])
            note(asked)
            // At most 10,000 alerts of one source may wait.
            if asked.error == "tooManyPending" { continue }
            #expect(asked.error == nil, "\(asked)")
            if let id = asked.id { ledger.note(ask: id, title: title) }
        }
    }

    private func answer(_ number: Int, until limit: ContinuousClock.Instant) async throws {
        var random = TestRandom(number)
        let client = try await QueueClient(on: queue)
        while ContinuousClock.now < limit {
            let list = try await client.ask("list", ["limit": 20])
            let alerts = list.fields["alerts"] as? [[String: any Sendable]] ?? []
            for id in alerts.compactMap({ $0["id"] as? Int }).shuffled(using: &random) {
                let button = ["yes", "no"].randomElement(using: &random) ?? "yes"
                let answered = try await client.ask("answer", ["id": id, "button": button])
                note(answered)
                #expect(answered.error == nil || answered.error == "alreadyResolved")
                if answered.error == nil { ledger.note(answer: button, to: id) }
            }
        }
    }

    private func verify(until limit: ContinuousClock.Instant) async throws {
        let client = try await QueueClient(on: queue)
        while ContinuousClock.now < limit {
            // The log grows for as long as the others go on, and a debug build reads it slowly.
            let report = try await client.ask("verify", seconds: 600)
            #expect(report.fields["problems"] as? [String] == [], "\(report)")
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Checkpoints as another program would that respects the lock.
    private func checkpoint(until limit: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < limit {
            let child = try Child(
                "flock",
                [queue.path + "-lock", "sqlite3", queue.path, "PRAGMA wal_checkpoint(TRUNCATE)"])
            #expect(await child.exit() == 0)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func note(_ reply: QueueClient.Reply) {
        waits.withLock { $0.append(reply.milliseconds) }
    }
}
