import AlertCore
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

@Suite("Resolving", .inParallel)
struct ResolvingTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// A way to end an alert, and the row and the entry that it must leave.
    struct Ending: Sendable, CustomTestStringConvertible {
        let name: String
        let alert: Alert
        let resolution: Resolution
        let outcome: Outcome
        let index: Int
        let by: ResolvedBy
        var role: Alert.Button.Role?
        var testDescription: String { name }
    }

    static let endings = [
        Ending(
            name: "a choice by index", alert: .yesNo(), resolution: .choose(button: 0),
            outcome: .answered, index: 0, by: .person),
        Ending(
            name: "a choice by id", alert: .yesNo(), resolution: .chooseID("No"),
            outcome: .answered, index: 1, by: .person, role: .cancel),
        Ending(
            name: "a closed notice", alert: Alert("Done"),
            resolution: .choose(button: nil), outcome: .dismissed, index: -1, by: .person),
        Ending(
            name: "an auto-dismissal", alert: Alert("Done"), resolution: .dismiss,
            outcome: .dismissed, index: -1, by: .system),
        Ending(
            name: "a cancel", alert: .yesNo(), resolution: .cancel(handled: false),
            outcome: .cancelled, index: 1, by: .system, role: .cancel),
        Ending(
            name: "a cancel without a cancel button", alert: Alert("?", buttons: ["Yes", "No"]),
            resolution: .cancel(handled: true), outcome: .cancelled, index: -1, by: .system),
        Ending(
            name: "a withdrawal", alert: .yesNo(), resolution: .withdraw(),
            outcome: .withdrawn, index: -1, by: .asker),
    ]

    @Test("An ending stores its row and its entry, and one alert fewer waits", arguments: endings)
    func ending(_ ending: Ending) async throws {
        let asked = try await store.ask(ending.alert)
        try await store.ask(.yesNo("Another"))
        clock.advance(by: .seconds(1))
        let resolved = try await store.resolve(asked.id, ending.resolution, by: .ana)
        let stored = try await store.record(asked.id)
        for response in [resolved.response, stored.response] {
            #expect(response?.outcome == ending.outcome)
            #expect(response?.buttonIndex == ending.index)
            #expect(response?.by == ending.by)
            // A timer has no responder.
            let isTimer = ending.outcome == .dismissed && ending.by == .system
            #expect(response?.responder == (isTimer ? nil : Caller.ana.recorded))
            #expect(response?.button?.role == ending.role)
            #expect(response.map { Timestamp.milliseconds($0.resolvedAt) } == 1_767_225_601_000)
        }
        #expect(resolved.state == .resolved && stored.state == .resolved)
        #expect(try queue.integer("SELECT pending FROM sources") == 1)
        #expect(try await store.pendingCount() == 1)
        let entry = try #require(try await store.entries(from: 3, of: nil, limit: 9).first)
        #expect(entry.event.kind == .resolved)
        #expect(entry.event.outcome == ending.outcome)
        #expect(entry.event.buttonIndex == ending.index)
        #expect(entry.event.by == ending.by)
        #expect(entry.event.responder == Caller.ana.recorded)
        #expect(entry.buttonRole == ending.role)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("A cancel that a delegate handled is recorded differently from a simulated one")
    func handled() async throws {
        let ids = [try await store.ask(.yesNo()).id, try await store.ask(.yesNo()).id]
        _ = try await store.resolve(ids[0], .cancel(handled: true), by: .ana)
        _ = try await store.resolve(ids[1], .cancel(handled: false), by: .ana)
        #expect(try await store.record(ids[0]).response?.cancelHandling == .handled)
        #expect(try await store.record(ids[1]).response?.cancelHandling == .simulateCancelButton)
        await store.close()
    }

    static let refusals: [(String, Alert, Resolution)] = [
        ("noSuchButton", .yesNo(), .choose(button: 2)),
        ("noSuchButton", .yesNo(), .choose(button: -1)),
        ("noSuchButton", .yesNo(), .chooseID("yes")),
        ("noSuchButton", Alert("Done"), .choose(button: 0)),
        ("invalid", .yesNo(), .choose(button: nil)),
        ("invalid", .yesNo(), .dismiss),
    ]

    @Test(
        "A choice that the alert does not offer is refused, and the alert still waits",
        arguments: refusals)
    func refusal(kind: String, alert: Alert, resolution: Resolution) async throws {
        let id = try await store.ask(alert).id
        let error = await thrown { try await store.resolve(id, resolution, by: .ana) }
        #expect(error?.kind == kind)
        #expect(try await store.record(id).state == .queued)
        #expect(try queue.integer("SELECT pending FROM sources") == 1)
        #expect(try queue.integer("SELECT count(*) FROM audit") == 1)
        await store.close()
    }

    @Test("An unknown id is not found, whatever the operation")
    func unknown() async throws {
        let errors = [
            await thrown { try await store.answer(9, 0) },
            await thrown { try await store.expire(9) },
            await thrown { try await store.snooze(9, for: nil, by: .ana) },
            await thrown { try await store.collect(9, by: .ana) },
            await thrown { try await store.record(9) },
            await thrown { try await store.history(HistoryFilter(), limit: 1, after: 9) },
        ]
        #expect(errors.map(\.?.kind) == Array(repeating: "notFound", count: errors.count))
        await store.close()
    }

    @Test("The first answer wins between two stores, and each loser gets the winner")
    func race() async throws {
        let other = try await queue.store(clock: clock)
        for _ in 0..<20 {
            let id = try await store.ask(.yesNo()).id
            let results = await withTaskGroup(of: Result<AlertRecord, any Error>.self) { group in
                for (store, button, who) in [
                    (store, 0, Caller.ana), (other, 1, .ben), (store, 1, .ben), (other, 0, .ana),
                ] {
                    group.addTask {
                        do {
                            return .success(try await store.answer(id, button, by: who))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let winners = results.compactMap { try? $0.get().response }
            let winner = try #require(winners.first)
            #expect(winners.count == 1)
            for result in results {
                guard case .failure(let error) = result else { continue }
                guard case .alreadyResolved(let response)? = error as? AlertError else {
                    Issue.record("unexpected: \(error)")
                    continue
                }
                #expect(response.buttonIndex == winner.buttonIndex)
                #expect(response.responder == winner.responder)
            }
        }
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 20)
        #expect(try queue.integer("SELECT pending FROM sources") == 0)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
        await other.close()
    }

    @Test("A response is collected once, and the log records by whom")
    func collection() async throws {
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        #expect(try await store.record(id).response?.collectedAt == nil)
        #expect(try await store.collect(id, by: .ben))
        clock.advance(by: .seconds(5))
        #expect(try await !store.collect(id, by: .ana))
        store.post(.collected(id), by: .ana)
        try await store.ask(.yesNo("Stores the note, too"))
        let collected = try #require(try await store.record(id).response?.collectedAt)
        #expect(Timestamp.milliseconds(collected) == 1_767_225_600_000)
        let entries = try await store.entries(of: id, limit: 9)
        #expect(entries.map(\.event.kind) == [.asked, .resolved, .collected])
        #expect(entries.last?.event.responder == Caller.ben.recorded)
        await store.close()
    }

    @Test("A request to cancel is seen until the alert is resolved")
    func cancelRequest() async throws {
        let id = try await store.ask(.yesNo()).id
        #expect(try await !store.find(.id(id)).isCancelRequested)
        try await store.requestCancel(id, .own(.program), by: .ana)
        #expect(try await store.find(.id(id)).isCancelRequested)
        _ = try await store.resolve(id, .cancel(handled: true), by: .ana)
        #expect(try await !store.find(.id(id)).isCancelRequested)
        await store.close()
    }
}
