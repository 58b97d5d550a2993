import AlertQueueTesting
import PostgreSQLStore
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

/// Accounts of several machines in one queue.
@Suite("Accounts of several machines", .inParallel, .needsServer)
struct HostNameTests {
    private func caller(_ uid: UInt32 = 1000) -> Caller {
        Caller(
            Account(uid: uid, name: "ana"), via: "ask",
            process: ProcessIdentity(host: "somewhere", pid: 7))
    }

    private func question(_ title: String) -> Question {
        Question(alert: Alert(title, buttons: ["Yes"], key: "k"), source: "s")
    }

    @Test("Each machine sees its own accounts without a host, and the others' with theirs")
    func names() async throws {
        let queue = try await PostgreSQLQueue()
        let stores = try await [nil, "web", "db"].asyncMap {
            try await queue.open(ManualClock(), on: $0)
        }
        var ids: [Alert.ID] = []
        for (store, title) in zip(stores, ["here?", "web?", "db?"]) {
            let receipt = try await store.enqueue(question(title), by: caller())
            #expect(receipt.isNew && receipt.record.source.account?.host == "")
            ids.append(receipt.record.id)
        }
        let seen = try await stores.asyncMap { store in
            try await store.pending(limit: 9).sorted { $0.id < $1.id }.map(
                \.source.account?.host)
        }
        #expect(seen == [["", "web", "db"], ["here", "", "db"], ["here", "web", ""]])
        let key = AlertReference.key("k", source: "s", of: .account(Account(uid: 1000)))
        for (store, id) in zip(stores, ids) {
            #expect(try await store.find(key).record.id == id)
        }
        // Root of one machine has no right over the accounts of another.
        let error = await #expect(throws: AlertError.self) {
            try await stores[1].resolve(ids[2], .withdraw(), by: caller(0))
        }
        #expect(error == .notYours(ids[2], owner: .account(Account(uid: 1000, host: "db"))))
        _ = try await stores[1].resolve(ids[2], .choose(button: 0), by: caller())
        let late = await #expect(throws: AlertError.self) {
            try await stores[2].resolve(ids[2], .choose(button: 0), by: caller())
        }
        guard case .alreadyResolved(let response) = late else {
            Issue.record("\(late as Any)")
            return
        }
        #expect(response.responder?.account?.host == "web")
        let logged = try await stores[0].entries(LogQuery(.last(1), limit: 1)).first
        #expect(logged?.event.responder.account?.host == "web")
        // The hash covers the host as it is stored.
        let own = try await stores[1].entries(LogQuery(.last(1), limit: 1)).first
        #expect(
            own?.event.responder.account?.host == "" && own?.principal.hasSuffix("@web") == true)
        try own?.checkHash()
        #expect(try await stores[0].verify(expecting: nil) { _, _ in }.problems.isEmpty)
        for store in stores { await store.close() }
    }
}

extension Array {
    fileprivate func asyncMap<Result>(
        _ transform: (Element) async throws -> Result
    ) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
