import AlertCore
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Waiting leases in a file", .inParallel)
struct WaitingLeaseTests: StoreSuite {
    let fixture: StoreFixture
    private var file: String { queue.path + "-leases" }

    init() async throws { fixture = try await StoreFixture() }

    private func ask(in other: SQLiteAlertStore? = nil) async throws -> Alert.ID {
        let question = Question(alert: .yesNo("Q?"), source: "test", isAwaited: true)
        let id = try await (other ?? store).enqueue(question, by: .ana).record.id
        clock.advance(by: .seconds(10))
        return id
    }

    private func isOrphaned(_ id: Alert.ID) async throws -> Bool {
        let isOrphaned = try await store.record(id).isOrphaned
        let reader = try await SQLiteAlertStore.openForReading(path: queue.path, clock: clock)
        #expect(try await reader.record(id).isOrphaned == isOrphaned)
        await reader.close()
        return isOrphaned
    }

    @Test("Thousands of waits share one descriptor, and each of them is seen")
    func many() async throws {
        let id = try await ask()
        let descriptors = { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") }
        let before = try descriptors().count
        var leases: [any AlertLease] = []
        for other in 1...3000 {
            leases.append(try #require(try await store.lease(id + Int64(other), for: .waiting)))
        }
        #expect(try descriptors().count < before + 1000)
        #expect(try await isOrphaned(id))
        let lease = try #require(try await store.lease(id, for: .waiting))
        for lease in leases { lease.end() }
        #expect(try await !isOrphaned(id))
        lease.end()
        #expect(try await isOrphaned(id))
        await store.close()
    }

    @Test("After the file was deleted, nobody seems to wait until the next wait, or for a second")
    func deleted() async throws {
        let id = try await ask()
        let lease = try #require(try await store.lease(id, for: .waiting))
        try FileManager.default.removeItem(atPath: file)
        #expect(try await isOrphaned(id))
        let other = try #require(try await store.lease(ask(), for: .waiting))
        #expect(try await !isOrphaned(id))
        other.end()
        try FileManager.default.removeItem(atPath: file)
        #expect(try await isOrphaned(id))
        // As a call does that waits for a response.
        _ = try await store.news(after: LogPosition(.start), of: .others)
        #expect(try await eventually { try await !store.record(id).isOrphaned })
        lease.end()
        #expect(try await isOrphaned(id))
        await store.close()
    }

    @Test("The leases of a closed store leave its file as it is")
    func closed() async throws {
        let id = try await ask()
        _ = try #require(try await store.lease(id, for: .waiting))
        await store.close()
        try FileManager.default.removeItem(atPath: file)
        store.waits.renew()
        #expect(throws: AlertError.closed) { try store.waits.prepare() }
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test("Where the file can't be looked at, nothing is said about who waits")
    func unknown() async throws {
        let id = try await ask()
        #expect(try await isOrphaned(id))
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(try await !isOrphaned(id))
        // Its asker could not say that it waits, so it must not seem to be gone.
        let newcomer = try await queue.store(clock: clock)
        let other = try await ask(in: newcomer)
        await newcomer.close()
        try FileManager.default.removeItem(atPath: file)
        #expect(try await isOrphaned(id))
        #expect(try await !isOrphaned(other))
        try FileManager.default.createSymbolicLink(
            atPath: file, withDestinationPath: queue.path + "-lock")
        #expect(try await !isOrphaned(id))
        await store.close()
    }

    @Test("Nothing is orphaned in a backup, because somebody may wait at its queue")
    func backup() async throws {
        let id = try await ask()
        #expect(try await isOrphaned(id))
        let copy = queue.directory + "/backup.db"
        _ = try await store.backUp(to: copy, replaces: false, keeping: nil) { _, _ in }
        let reader = try await SQLiteAlertStore.openForReading(path: copy, clock: clock)
        #expect(try await !reader.record(id).isOrphaned)
        await reader.close()
        await store.close()
    }

    @Test("An alert that is answered while it is read is not orphaned: its asker has left for that")
    func answered() async throws {
        let id = try await ask()
        let lease = try #require(try await store.lease(id, for: .waiting))
        let read = [try await store.record(id)]
        try await store.answer(id, 0)
        lease.end()
        #expect(try await store.withOrphans(read).map(\.isOrphaned) == [false])
        await store.close()
    }

    @Test("A negative number has no lock, and every other one does")
    func extreme() throws {
        try store.waits.prepare()
        let ids = [Alert.ID.min, -1, 0, 1, 1 << 62, .max]
        #expect(WaitingLeases.unawaited(among: ids, in: store.files) == [0, 1, 1 << 62, .max])
    }

    @Test("A changed word about the asker is found, by each reading and by both verifiers")
    func forged() async throws {
        let question = Question(alert: .yesNo("Q?"), source: "test", isAwaited: true)
        _ = try await store.enqueue(question, by: .ana)
        try await store.ask(.yesNo("Left"))
        for (id, word) in [(1, 0), (2, 1)] as [(Alert.ID, Int)] {
            #expect(try await store.verify(expecting: nil).problems.isEmpty)
            let verifier = ["python3", AuditVerificationTests.verifier, queue.path]
            #expect(try await Child.run(verifier[0], verifier[1], verifier[2]).code == 0)
            try queue.forge("UPDATE alerts SET awaited = \(word) WHERE id = \(id)")
            await #expect(throws: AlertError.self) { try await store.record(id) }
            await #expect(throws: AlertError.self) {
                try await store.resolve(id, .withdraw(), by: .ana)
            }
            let problems = try await store.verify(expecting: nil).problems
            #expect(problems.map(\.alertID) == [id], "\(problems)")
            let told = try await Child.run(verifier[0], verifier[1], verifier[2])
            #expect(told.code != 0 && told.errors.contains("entry \(id): "), "\(told)")
            try queue.forge("UPDATE alerts SET awaited = \(1 - word) WHERE id = \(id)")
        }
        let db = try queue.connection()
        #expect(throws: (any Error).self) {
            try db.execute("UPDATE alerts SET awaited = 0 WHERE id = 1")
        }
        await store.close()
    }
}
