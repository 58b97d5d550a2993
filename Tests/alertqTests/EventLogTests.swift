import AlertQueue
import AlertQueueTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import alertq

@Suite("Anchors of the audit log", .inParallel)
struct EventLogTests {
    @Test("A head is logged at the start, after a number of entries, and after a time")
    func heads() async throws {
        let directory = try TemporaryDirectory()
        let manager = try await AlertManager(path: directory.database)
        try await manager.startPresenting([ScriptedPresenter()], only: nil, keepsLog: true)
        let heads = Mutex<[String]>([])
        for (entriesPerHead, headInterval) in [(Int64(5), Duration.seconds(3600)), (1000, .zero)] {
            heads.withLock { $0 = [] }
            let log = EventLog(
                manager, entriesPerHead: entriesPerHead, headInterval: headInterval
            ) { _, fields in
                let head = fields.first { $0.name == "ALERTQ_AUDIT_HEAD" }?.value
                heads.withLock { $0 += head.map { [$0] } ?? [] }
            }
            let task = Task { await log.run() }
            for count in 1...3 {
                for _ in 0..<5 { _ = try await manager.show(Alert("T")) }
                _ = await eventually { heads.withLock { $0.count } >= count }
            }
            task.cancel()
            let written = heads.withLock { $0 }
            #expect(written.count >= 3 && Set(written).count == written.count)
            for text in written {
                let head = try #require(AuditHead(text))
                #expect(try await manager.verifyAudit(expecting: head).problems.isEmpty)
            }
        }
        await manager.close()
    }

    @Test("Events on the screen of another process are logged by that process")
    func otherScreen() async throws {
        let directory = try TemporaryDirectory()
        let manager = try await AlertManager(path: directory.database)
        let lines = Mutex<[String]>([])
        let log = EventLog(manager) { line, _ in lines.withLock { $0.append(line) } }
        try await manager.show(Alert("Before"))
        await log.finish()
        #expect(lines.withLock { $0 }.isEmpty)
        // The control: from here on the screen belongs to this process.
        try await manager.startPresenting([ScriptedPresenter()], only: nil, keepsLog: true)
        #expect(await eventually { await manager.screens().leader != nil })
        try await manager.show(Alert("After"))
        await log.finish()
        #expect(lines.withLock { $0 }.contains { $0.contains("alert 2 asked") })
        await manager.close()
    }

    @Test("The process that writes also writes what comes while its screen is being detached")
    func detached() async throws {
        let directory = try TemporaryDirectory()
        let manager = try await AlertManager(path: directory.database)
        let lines = Mutex<[String]>([])
        let log = EventLog(manager) { line, _ in lines.withLock { $0.append(line) } }
        try await manager.startPresenting([ScriptedPresenter()], only: nil, keepsLog: true)
        await log.prepareToEnd()
        await manager.stopPresenting()
        for number in 1...2 {
            try await manager.show(Alert("T"))
            await log.finish()
            #expect(lines.withLock { $0 }.contains { $0.contains("alert \(number) asked") })
        }
        await manager.close()
    }
}
