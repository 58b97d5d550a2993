import AlertCore
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Authority", .inParallel)
struct AuthorityTests {
    let queue: TemporaryQueue
    let store: SQLiteAlertStore

    init() async throws {
        queue = try TemporaryQueue()
        store = try await queue.store()
    }

    private var root: Caller {
        var caller = Caller(via: "withdraw")
        caller.principal = .account(Account(uid: 0))
        return caller
    }

    /// Asks as an account that is neither root nor eve.
    private func asked() async throws -> Alert.ID {
        var asker = Caller(via: "ask")
        asker.principal = .account(Account(uid: 1001))
        return try await store.enqueue(Question(alert: .yesNo(), source: "test"), by: asker).record
            .id
    }

    @Test("Another account can't withdraw or cancel an alert without force")
    func another() async throws {
        for (own, forced) in [
            (Resolution.withdraw(), Resolution.withdraw(.forced(.person))),
            (.cancel(handled: false), .cancel(handled: false, .forced(.person))),
        ] {
            let id = try await asked()
            let error = await thrown { try await store.resolve(id, own, by: .eve) }
            #expect(error?.kind == "notYours")
            #expect(error?.description.contains("1001") == true, "\(error as Any)")
            #expect(try await store.record(id).response == nil)
            let response = try await store.resolve(id, forced, by: .eve).response
            #expect(response?.by == .person && response?.responder?.account?.name == "eve")
        }
        let id = try await asked()
        let error = await thrown {
            try await store.requestCancel(id, .own(.program), by: .eve)
        }
        #expect(error?.kind == "notYours")
        #expect(try await !store.find(.id(id)).isCancelRequested)
        await store.close()
    }

    @Test("Root can withdraw and cancel, and is recorded as the one who did")
    func byRoot() async throws {
        for resolution in [Resolution.withdraw(), .cancel(handled: false)] {
            let response = try await store.resolve(asked(), resolution, by: root).response
            #expect(response?.by == .program)
        }
        await store.close()
    }

    @Test("The account that asked is recorded as the asker, or as the system, forced or not")
    func own() async throws {
        for authority in [Resolution.Authority.own(.person), .forced(.person)] {
            var asker = Caller(via: "withdraw")
            asker.principal = .account(Account(uid: 1001))
            let withdrawn = try await store.resolve(asked(), .withdraw(authority), by: asker)
            #expect(withdrawn.response?.by == .asker)
            let cancelled = try await store.resolve(
                asked(), .cancel(handled: true, authority), by: asker)
            #expect(cancelled.response?.by == .system)
        }
        await store.close()
    }

    @Test("A screen that carries out a request acts by the right of the caller who requested it")
    func requested() async throws {
        let id = try await asked()
        try await store.requestCancel(id, .forced(.person), by: .eve)
        let cancelled = try await store.resolve(
            id, .cancel(handled: true, .requested), by: Caller(via: "terminal"))
        #expect(cancelled.response?.by == .person)
        #expect(cancelled.response?.responder?.account?.name == "eve")
        #expect(try await store.record(id).response?.responder?.account?.name == "eve")
        let entries = try await store.entries(of: id, limit: 9)
        #expect(entries.map(\.event.kind) == [.asked, .cancelling, .resolved])
        #expect(entries[1].event.responder.account?.name == "eve" && entries[1].event.by == .person)
        await store.close()
    }

    @Test("A program's answer is recorded differently from a person's")
    func program() async throws {
        for (actor, by) in [(Resolution.Actor.person, ResolvedBy.person), (.program, .program)] {
            let id = try await asked()
            let record = try await store.resolve(id, .chooseID("Yes", actor), by: .ana)
            #expect(record.response?.by == by)
            #expect(try await store.record(id).response?.by == by)
        }
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }
}
