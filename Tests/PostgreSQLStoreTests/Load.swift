import PostgreSQL
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// Callers that ask, answer and collect through some stores, and what they were told.
///
/// Whoever gets an error tries again until the store says what has become of it.
final class Load: Sendable {
    private struct State {
        /// What the callers were told of each key, of each answer, and of each collection.
        var asked: [String: Alert.ID] = [:]
        var answered: [Alert.ID: Int] = [:]
        var collected: [Alert.ID: Int] = [:]
        /// Those that wait for an answer.
        var open: [Alert.ID] = []
        /// The errors that callers got, and how often.
        var errors: [String: Int] = [:]
        /// How many asks had been stored although their caller had got an error.
        var found = 0
        var lastSuccess = ContinuousClock.now
        var isOver = false
    }

    private let state = Mutex(State())
    private let stores: [any AlertStore]

    init(on stores: [any AlertStore]) { self.stores = stores }

    /// Runs the callers for as long as the body does.
    func during(askers: Int = 4, _ body: @Sendable @escaping () async throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup { group in
            for number in 0..<askers {
                let store = stores[number % stores.count]
                group.addTask { try await self.ask(number, on: store) }
            }
            for number in 0..<2 {
                let store = stores[(number + 1) % stores.count]
                group.addTask { try await self.answer(number, on: store) }
            }
            do {
                try await body()
            } catch {
                end()
                throw error
            }
            end()
            try await group.waitForAll()
        }
    }

    private func end() { state.withLock { $0.isOver = true } }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// When something was stored last.
    var lastSuccess: ContinuousClock.Instant { state.withLock { $0.lastSuccess } }

    /// How many questions were asked.
    var count: Int { state.withLock { $0.asked.count } }

    var summary: String {
        state.withLock { state in
            "\(state.asked.count) asked, \(state.found) of them found after an error, "
                + "\(state.answered.count) answered, errors: \(state.errors)"
        }
    }

    private func ask(_ number: Int, on store: any AlertStore) async throws {
        var count = 0
        while !isOver {
            // Those who answer may be slower.
            if state.withLock({ $0.open.count > 500 }) {
                try await Task.sleep(for: .milliseconds(1))
                continue
            }
            count += 1
            let key = "\(number).\(count)"
            let (receipt, isRepeated) = try await untilTold {
                () async throws(AlertError) in
                try await store.enqueue(
                    Question(alert: .yesNo(key, key: key), source: "load"), by: .ana)
            }
            state.withLock { state in
                state.asked[key] = receipt.record.id
                state.open.append(receipt.record.id)
                if !receipt.isNew {
                    #expect(isRepeated, "\(key) was there before it was asked")
                    state.found += 1
                }
            }
        }
    }

    private func answer(_ number: Int, on store: any AlertStore) async throws {
        var random = TestRandom(number)
        while !isOver {
            // Both answer the same alerts now and then; each button is one's own.
            let id = state.withLock { state -> Alert.ID? in
                guard let index = state.open.indices.randomElement(using: &random) else {
                    return nil
                }
                return Bool.random(using: &random)
                    ? state.open.remove(at: index) : state.open[index]
            }
            guard let id else {
                try await Task.sleep(for: .milliseconds(1))
                continue
            }
            let caller = number == 0 ? Caller.ana : .ben
            do {
                _ = try await untilTold { () async throws(AlertError) in
                    try await store.resolve(id, .choose(button: number), by: caller)
                }
                note(answer: number, to: id)
            } catch AlertError.alreadyResolved(let response) {
                // One's own, if the reply to it was lost.
                note(answer: response.buttonIndex, to: id)
            }
            if try await untilTold({ () async throws(AlertError) in
                try await store.collect(id, by: .ana)
            }).0 {
                state.withLock { $0.collected[id, default: 0] += 1 }
            }
        }
    }

    private func note(answer button: Int, to id: Alert.ID) {
        state.withLock { state in
            #expect(state.answered[id, default: button] == button, "two responses to \(id)")
            state.answered[id] = button
        }
    }

    /// Repeats what failed because the server was away.
    private func untilTold<Result: Sendable>(
        _ body: () async throws(AlertError) -> Result
    ) async throws -> (Result, isRepeated: Bool) {
        var isRepeated = false
        while true {
            do throws(AlertError) {
                let result = try await body()
                state.withLock { $0.lastSuccess = .now }
                return (result, isRepeated)
            } catch {
                guard ["busy", "unreachable", "storage"].contains(error.kind) else {
                    throw error
                }
                isRepeated = true
                state.withLock { $0.errors["\(error)", default: 0] += 1 }
            }
        }
    }

    /// Waits for something to be stored after a moment; returns how long that took.
    func goesOn(after moment: ContinuousClock.Instant) async throws -> Duration {
        try #require(await eventually { self.lastSuccess > moment })
        return moment.duration(to: lastSuccess)
    }

    /// Compares what the callers were told with what is stored.
    func check(_ db: Connection) async throws {
        let (store, state) = (stores[0], state.withLock { $0 })
        #expect(!state.asked.isEmpty && !state.answered.isEmpty)
        let report = try await untilTold { () async throws(AlertError) in
            try await store.verify(expecting: nil)
        }.0
        #expect(report.problems.isEmpty, "\(report.problems.prefix(5))")
        for (key, id) in state.asked {
            // A server that is busy with other work may take longer than a reader waits.
            let record = try await untilTold { () async throws(AlertError) in
                try await store.find(.id(id)).record
            }.0
            #expect(record.alert.key == key && record.alert.title == key)
            #expect(record.response?.buttonIndex == state.answered[id])
        }
        #expect(state.collected.values.allSatisfy { $0 == 1 })
        let count = { (sql: String) in try db.first(sql) { Int($0.integer()) } }
        #expect(try count("SELECT count(*) FROM alerts") == state.asked.count)
        #expect(
            try count("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL")
                == state.answered.count)
        for event in ["asked", "resolved", "collected"] {
            let twice = """
                SELECT count(*) FROM (SELECT 1 FROM audit WHERE event = '\(event)'
                    GROUP BY alert_id HAVING count(*) > 1) AS twice
                """
            #expect(try count(twice) == 0)
        }
        let backwards = """
            SELECT count(*) FROM (SELECT at_ms - lag(at_ms) OVER (ORDER BY seq) AS step
                FROM audit) AS steps WHERE step < 0
            """
        #expect(try count(backwards) == 0)
    }
}
