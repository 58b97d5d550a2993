import Foundation
import Glibc
import ProcessTesting
import Synchronization
import TestSupport
import Testing

@Suite("Stuck reader", .inParallel)
struct StuckReaderTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("A stuck reader is named; asks end before 64 MiB of log, answers don't; then all goes on")
    func stuckReader() async throws {
        let client = try await QueueClient(on: queue)
        #expect(try await client.ask("ask", ["title": "First"]).id == 1)
        #expect(try await client.ask("ask", ["title": "Second"]).id == 2)
        let reader = try await QueueReader(of: queue)
        let message = String(repeating: "m", count: 65_000)
        var (count, refusal) = (0, nil as QueueClient.Reply?)
        while refusal == nil, count < 3000 {
            count += 1
            let asked = try await client.ask("ask", ["title": "More", "message": message])
            if asked.error != nil { refusal = asked }
        }
        #expect(refusal?.error == "busy", "\(String(describing: refusal)) after \(count)")
        #expect(try logSize() < 64 << 20)
        let refused = try await queue.run("ask", "One more?", "--detach")
        #expect(refused.code == 75)
        #expect(refused.errors.contains("keeps reading"))
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 75)
        #expect(doctor.output.contains("process \(reader.pid) (sqlite3)"), "\(doctor)")
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.run("withdraw", "2").code == 0)
        await reader.end()
        #expect(try await client.ask("ask", ["title": "And on"]).error == nil)
        #expect(try logSize() < 16 << 20)
        #expect(try await queue.run("doctor").code == 0)
        #expect(try await queue.faults() == [])
    }

    private func logSize() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: queue.path + "-wal")
        return (attributes[.size] as? Int) ?? .max
    }
}
