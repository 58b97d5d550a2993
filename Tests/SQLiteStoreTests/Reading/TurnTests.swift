import AlertCore
import Glibc
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// Which alert comes next if accounts and sources ask more than people can answer.
@Suite("Turns", .inParallel)
struct TurnTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    private static func caller(_ uid: UInt32) -> Caller {
        var caller = Caller(via: "test")
        caller.principal = .account(Account(uid: uid))
        return caller
    }

    @discardableResult
    private func ask(
        _ alert: Alert = .yesNo(), of source: String, uid: UInt32 = 1000, principalLimit: Int = 1000
    ) async throws -> Alert.ID {
        try await store.enqueue(
            Question(alert: alert, source: source, principalLimit: principalLimit),
            by: Self.caller(uid)
        ).record.id
    }

    /// Shows the next alert, and answers it.
    private func show(prefersQuestions: Bool = false) async throws -> AlertRecord? {
        let next = try await store.next(
            ScreenQuery(for: ["x"], except: [], prefersQuestions: prefersQuestions))
        guard let record = next.record else { return nil }
        store.post(.presented(record), by: .ana)
        let choice: Resolution = record.alert.buttons.isEmpty ? .dismiss : .choose(button: 0)
        return try await store.resolve(record.id, choice, by: .ana)
    }

    private func showAll() async throws -> [Alert.ID] {
        var shown: [Alert.ID] = []
        while let record = try await show() { shown.append(record.id) }
        return shown
    }

    @Test("The sources of an account take turns, and each keeps its own order")
    func sources() async throws {
        for _ in 1...4 { try await ask(of: "flood") }
        for source in ["backup", "deploy", "backup"] { try await ask(of: source) }
        #expect(try await store.pending(limit: 9).map(\.id) == [1, 2, 3, 4, 5, 6, 7])
        #expect(try await showAll() == [1, 5, 6, 2, 7, 3, 4])
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("One source alone, and sources that ask one at a time, are shown by age")
    func age() async throws {
        for source in ["a", "a", "a"] { try await ask(of: source) }
        #expect(try await showAll() == [1, 2, 3])
        for source in ["c", "b", "a", "d"] { try await ask(of: source) }
        #expect(try await showAll() == [4, 5, 6, 7])
        await store.close()
    }

    @Test("Sources invented for each alert do not get ahead of a waiting question")
    func inventedSources() async throws {
        for number in 0..<5 { try await ask(of: "first-\(number)") }
        try await ask(of: "backup")
        let second = try await ask(of: "backup")
        var turns = 0
        while try await show()?.id != second {
            // Two new ones for each that is shown.
            for number in 0..<2 { try await ask(of: "more-\(turns)-\(number)") }
            turns += 1
        }
        // The six sources that were in line before its first alert was shown, and those that were
        // invented until then.
        #expect(turns <= 6 + 2 * 6)
        await store.close()
    }

    @Test("Showing an alert out of turn does not delay those in line before it")
    func outOfTurn() async throws {
        for _ in 0..<5 { try await ask(of: "flood") }
        let last = try await store.record(5)
        store.post(.presented(last), by: .ana)
        try await store.answer(5, 0)
        let question = try await ask(of: "backup")
        #expect(try await show()?.id == 1)
        #expect(try await show()?.id == question)
        await store.close()
    }

    @Test("Repeatedly snoozed alerts keep no other source from the screen")
    func snoozed() async throws {
        for _ in 0..<2 {
            _ = try await ask(of: "nag")
        }
        _ = try await show()
        _ = try await ask(of: "nag")
        let question = try await ask(of: "backup")
        for turn in 0..<4 {
            try await store.sweep(atMost: .max)
            let record = try #require(
                try await store.next(ScreenQuery(for: ["x"])).record)
            store.post(.presented(record), by: .ana)
            guard record.id != question else { break }
            #expect(turn < 3)
            _ = try await store.snooze(record.id, for: .seconds(1), by: .ana)
            clock.advance(by: .seconds(2))
        }
        await store.close()
    }

    @Test("A question that is put off again and again keeps no other of its source from the screen")
    func snoozedAmongItsOwn() async throws {
        for _ in 0..<2 { try await ask(of: "backup") }
        var shown: [Alert.ID] = []
        for _ in 0..<4 {
            try await store.sweep(atMost: .max)
            let record = try #require(try await store.next(ScreenQuery(for: ["x"])).record)
            store.post(.presented(record), by: .ana)
            shown.append(record.id)
            _ = try await store.snooze(record.id, for: .seconds(1), by: .ana)
            clock.advance(by: .seconds(2))
        }
        #expect(shown == [1, 2, 1, 2])
        await store.close()
    }

    @Test("Who asks later gets ahead of nobody, even under a new name")
    func asksLater() async throws {
        for _ in 0..<2 {
            for number in 0..<500 { try await ask(of: "source-\(number)", principalLimit: 2000) }
        }
        #expect(try await show()?.id == 1)
        #expect(try await show()?.id == 2)
        try await ask(of: "new", principalLimit: 2000)
        for _ in 3...500 { _ = try await show() }
        // The two sources that had been shown before it was asked come first.
        #expect(try await showAll().prefix(4) == [501, 502, 1001, 503])
        await store.close()
    }

    @Test("Withdrawing and asking again does not gain a place in line")
    func withdrawn() async throws {
        for _ in 0..<3 { try await ask(of: "flood") }
        for id in [1, 2] as [Alert.ID] {
            _ = try await store.resolve(id, .withdraw(.forced(.program)), by: Self.caller(1000))
        }
        let again = try await ask(of: "flood")
        #expect(try await show()?.id == 3)
        #expect(try await show()?.id == again)
        await store.close()
    }

    @Test("A count that was tampered with does not block answers")
    func changedCount() async throws {
        for _ in 0..<2 { try await ask(of: "backup") }
        try queue.forge("UPDATE sources SET pending = 0")
        try await store.answer(1, 0)
        try queue.forge("DELETE FROM sources WHERE name = ''")
        try await store.answer(2, 0)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("Accounts take turns: the one that was shown longest ago comes first")
    func accounts() async throws {
        for _ in 1...3 { try await ask(of: "flood", uid: 1000) }
        for _ in 1...2 { try await ask(of: "flood", uid: 1001) }
        let patient = try await ask(of: "backup", uid: 1002)
        #expect(try await show()?.id == 1)
        #expect(try await show()?.id == 4)
        #expect(try await show()?.id == patient)
        #expect(try await showAll() == [2, 5, 3])
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("An alert that has become as urgent as a flood by waiting takes turns with it")
    func agedPriority() async throws {
        for number in 0..<3 { try await ask(.yesNo(priority: .critical), of: "flood-\(number)") }
        let low = try await ask(.yesNo(priority: .low), of: "backup")
        clock.advance(by: .seconds(3 * 3600))
        for number in 0..<3 { try await ask(.yesNo(priority: .critical), of: "more-\(number)") }
        _ = try await show()
        #expect(try await show()?.id == low)
        await store.close()
    }

    @Test("An account's alerts have a separate limit, whatever source names it invents")
    func principalLimit() async throws {
        for number in 0..<3 { try await ask(of: "source-\(number)", principalLimit: 3) }
        let error = await thrown { try await ask(of: "source-3", principalLimit: 3) }
        #expect(error?.kind == "tooManyPendingOfPrincipal")
        #expect(error?.description.contains("are already waiting, from all its sources") == true)
        try await ask(of: "source-3", uid: 1001, principalLimit: 3)
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 4)
        try await store.answer(1, 0)
        try await ask(of: "source-3", principalLimit: 3)
        // A name that was refused has left no source behind.
        #expect(try queue.integer("SELECT count(*) FROM sources WHERE name <> ''") == 5)
        let account = "SELECT pending FROM sources WHERE principal = '1000' AND name = ''"
        #expect(try queue.integer(account) == 3)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test(
        "Tampered values that would change whose turn it is are found",
        arguments: [
            "UPDATE sources SET pending = 0 WHERE name = ''", "DELETE FROM sources WHERE name = ''",
        ])
    func forged(script: String) async throws {
        for _ in 0..<2 { try await ask(of: "backup") }
        try queue.forge(script)
        #expect(try await store.verify(expecting: nil).problems.isEmpty == false)
        await store.close()
    }

    /// The hours until a question is as urgent as any, and then four priorities times three accounts
    /// times their sources; each of these alerts takes two minutes at most.
    private static func bound(hours: Int, sources: Int) -> Duration {
        .seconds(hours * 3600 + 4 * 3 * (sources + 1) * 120)
    }

    @Test("In a day of floods no question stays unseen for longer than documented")
    func dayOfFloods() async throws {
        let sources = 12
        var asked: [Alert.ID: (at: ClockReading, turn: Int, hours: Int)] = [:]
        var (turn, seen, wasNotice) = (0, 0, false)
        let start = clock.now()
        let priorities = Alert.Priority.allCases
        while start.time(until: clock.now()) < .seconds(24 * 3600) {
            // Two accounts ask more than can be shown: questions and notices of every priority.
            for flood in 0..<2 {
                let priority = priorities[(turn + flood) % 4]
                let source = "flood-\((turn * 7 + flood) % sources)"
                let alert =
                    turn % 3 == 0
                    ? Alert("Note", priority: priority) : Alert.yesNo(priority: priority)
                try await ask(alert, of: source, uid: 1000 + UInt32(flood), principalLimit: 9000)
            }
            if turn % 97 == 5 {
                let (uid, priority) = (UInt32(1000 + seen % 3), priorities[(turn / 97) % 4])
                let id = try await ask(
                    .yesNo(priority: priority), of: "honest-\(asked.count)", uid: uid,
                    principalLimit: 9000)
                asked[id] = (clock.now(), turn, 3 - Int(priority.rawValue))
            }
            guard let shown = try await show(prefersQuestions: wasNotice) else { break }
            wasNotice = shown.alert.buttons.isEmpty
            // A notice leaves after 10 seconds, and a person reads a question for two minutes.
            let length = Duration.seconds(wasNotice ? 10 : 120)
            clock.advance(by: length)
            turn += 1
            guard let question = asked.removeValue(forKey: shown.id) else { continue }
            seen += 1
            let bound = Self.bound(hours: question.hours, sources: sources)
            #expect(question.at.time(until: clock.now()) <= bound)
        }
        #expect(seen > 5, "\(seen) seen, \(asked.count) not, in \(turn) turns")
        let now = clock.now()
        for question in asked.values {
            let bound = Self.bound(hours: question.hours, sources: sources)
            #expect(question.at.time(until: now) <= bound)
        }
        await store.close()
    }
}
