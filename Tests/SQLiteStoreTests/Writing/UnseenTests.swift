import AlertCore
import AlertQueueTesting
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// The log's records of alerts that nobody saw.
@Suite("Unseen alerts", .inParallel)
struct UnseenTests {
    @Test("An alert that expires without having been shown is unseen in the log and the statistics")
    func unseen() async throws {
        let (queue, clock) = (try TemporaryQueue(), ManualClock())
        let store = try await queue.store(clock: clock)
        let seen = try await store.ask(.yesNo(deadline: .after(.seconds(60))))
        _ = try await store.ask(.yesNo(deadline: .after(.seconds(60))))
        store.post(.presented(seen), by: .ana)
        clock.advance(by: .seconds(60))
        try await store.sweep(atMost: .max)
        for id in [1, 2] as [Alert.ID] {
            let end = try await store.entries(of: id, limit: 9).last
            #expect(end?.expired?.isUnseen == (id == 2))
        }
        let statistics = try await store.statistics(StatisticsQuery()) { _, _ in }
        #expect(statistics.total.outcomes[.expired] == 2 && statistics.total.unseen == 1)
        #expect(statistics.sources.first?.counts.unseen == 1)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("An entry that calls an alert unseen although another entry presents it is found")
    func forged() async throws {
        let (queue, clock) = (try TemporaryQueue(), ManualClock())
        let store = try await queue.store(clock: clock)
        let alert = try await store.ask(.yesNo(deadline: .after(.seconds(60))))
        store.post(.presented(alert), by: .ana)
        clock.advance(by: .seconds(60))
        // The time of its presentation is removed, as by a forger, while it expires.
        try await store.writes.perform(.answer, "forge") { context in
            try context.db.run("UPDATE alerts SET presented_ms = NULL")
        }
        try await store.sweep(atMost: .max)
        try queue.forge(
            "UPDATE alerts SET presented_ms = (SELECT at_ms FROM audit WHERE event = 'presented')")
        let problems = try await store.verify(expecting: nil).problems
        #expect(problems.map(\.alertID) == [alert.id])
        #expect(problems.first?.reason.contains("expired unseen") == true)
        await store.close()
    }
}
