import Foundation
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Random edits in PostgreSQL", .inParallel, .needsServer)
struct RandomRowEditTests {
    /// The seed in `ALERTQ_EDIT_SEED` alone, or the number for this form, from a random one on.
    private var seeds: Range<UInt64> {
        let wanted = ProcessInfo.processInfo.environment["ALERTQ_EDIT_SEED"]
        if let seed = wanted.flatMap(UInt64.init) { return seed..<seed + 1 }
        let first = UInt64.random(in: 0..<1 << 60)
        return first..<first + UInt64(FaultForm.count(short: 60, full: 10_000))
    }

    @Test("Every edit is either found by the check against a saved head or changes no output")
    func edits() async throws {
        let original = try await ForgedQueue()
        let head = try #require(try await original.store.auditHead())
        try forgetTurns(of: original)
        let told = try await told(by: original)
        #expect(told.contains { $0.hasPrefix("new: 12") })
        var (found, harmless) = (0, 0)
        let seeds = self.seeds
        FaultForm.report("Random edits in PostgreSQL from seed \(seeds.lowerBound)")
        for seed in seeds {
            let queue = try await ForgedQueue()
            var edit = RandomRowEdit(seed: seed)
            let (db, id) = try queue.connectAsForger()
            if try edit.apply(to: db, id) {
                if await isFound(in: queue.store, head) {
                    found += 1
                } else {
                    try forgetTurns(of: queue)
                    let now = try await self.told(by: queue)
                    let difference = zip(told, now).first { $0 != $1 }
                    #expect(
                        now == told, "\(edit): \(difference.map { "\($0)\n\($1)" } ?? "")")
                    harmless += 1
                }
            }
            await queue.store.close()
        }
        FaultForm.report("Random edits in PostgreSQL: \(found) found, \(harmless) harmless")
        #expect(seeds.count == 1 || found > 0)
    }

    @Test("The comparison finds different output after edits that matter")
    func negativeControl() async throws {
        let original = try await ForgedQueue()
        try forgetTurns(of: original)
        let told = try await told(by: original)
        for sql in [
            "UPDATE alerts SET title = 'Other' WHERE queue = $1 AND id = 6",
            "UPDATE sources SET pending = 10000 WHERE queue = $1",
            "UPDATE heads SET first_id = 99 WHERE queue = $1",
        ] {
            let queue = try await ForgedQueue()
            try queue.forge(sql)
            try forgetTurns(of: queue)
            #expect(try await self.told(by: queue) != told, "\(sql)")
        }
    }

    private func isFound(in store: PostgreSQLAlertStore, _ head: AuditHead) async -> Bool {
        let report = try? await store.verify(expecting: head)
        return report.map { !$0.problems.isEmpty } ?? true
    }

    /// Orders the waiting alerts by id: the log does not prove the turns.
    private func forgetTurns(of queue: ForgedQueue) throws {
        let (db, id) = try queue.connectAsForger()
        try db.run("UPDATE alerts SET queued_seq = id WHERE queue = $1", id)
    }

    /// The results of all queries of the queue, and of every change of it; it is closed then.
    private func told(by queue: ForgedQueue) async throws -> [String] {
        let store = queue.store
        var lines: [String] = []
        func tell(_ what: String, _ body: () async throws -> Any) async {
            do { lines.append("\(what): \(try await body())") } catch {
                lines.append("\(what): \(error)")
            }
        }
        await tell("sweep") { try await store.sweep() }
        for kind in [
            RecordQuery.Kind.waiting(source: nil, orOverdue: true), .history(HistoryFilter()),
            .awaitingHandler("cleanup"), .awaitingHook(HistoryFilter()),
        ] {
            await tell("page") {
                try await store.page(RecordQuery(kind, limit: 99)).records.map(\.id)
            }
        }
        await tell("count") { try await store.pendingCount() }
        for (title, key) in [("Two", "k"), ("Nine", "l"), ("Other", "l")] {
            await tell("ask \(key)") {
                let deadline = key == "k" ? Alert.Deadline.after(.seconds(777_600)) : nil
                return try await store.ask(.yesNo(title, deadline: deadline, key: key))
            }
        }
        for id in 1...12 as ClosedRange<Alert.ID> {
            await tell("record \(id)") { try await store.record(id) }
            await tell("cancel \(id)") { try await store.find(.id(id)).isCancelRequested }
        }
        for _ in 0..<4 {
            var next: Alert.ID?
            await tell("next") {
                let upcoming = try await store.next(ScreenQuery(for: ["terminal"]))
                next = upcoming.record?.id
                return upcoming
            }
            guard let next else { break }
            await tell("answer \(next)") { try await store.answer(next, 1) }
        }
        for id in 1...12 as ClosedRange<Alert.ID> {
            await tell("resolve \(id)") { try await store.answer(id, 0) }
            await tell("collect \(id)") { try await store.collect(id, by: .ben) }
        }
        await tell("new") { try await store.ask(.yesNo("New")).id }
        await store.close()
        return lines
    }
}
