import Foundation
import ProcessTesting
import TestSupport
import Testing

/// Each benchmark once with little to do, so that none of them rots; speed is not checked.
@Suite("Small runs of the benchmark", .inParallel)
struct SmallRunTests {
    private static let program = BuiltProgram.path("alertq-bench")

    @Test(
        "Each benchmark measures what it says, in rows of JSON",
        arguments: [
            ("processes", 2), ("bell", 3), ("history", 50), ("open", 4), ("verify", 1),
            ("growth", 4), ("pages", 4), ("command", 6), ("text", 50), ("purge", 3), ("ask", 9),
            ("round-trip", 6), ("service", Tool.hasHTTP ? 5 : 0),
        ])
    func run(benchmark: String, rows: Int) async throws {
        let child = try Child(Self.program, ["--small", "--json", benchmark])
        let code = await child.exit(within: .seconds(240))
        let errors = await child.errors.complete()
        #expect(code == 0, "\(errors)")
        let lines = await child.output.complete().split(separator: "\n")
        #expect(lines.count >= rows)
        for line in lines {
            let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let object = try #require(parsed as? [String: Any])
            #expect(object["benchmark"] as? String == benchmark)
            let figure = try #require(object["figure"] as? Double)
            #expect(figure.isFinite && figure >= 0)
            let time = object["alertq_us"] as? Double
            #expect((time != nil) == (object["unit"] as? String == "/s"))
        }
    }

    @Test("A delay makes every sync longer: the queue's, the plain loop's and the disk's own")
    func delay() async throws {
        let child = try Child(
            Self.program, ["--small", "--json", "--sync-delay", "2000", "round-trip", "command"])
        #expect(await child.exit(within: .seconds(240)) == 0)
        let rows = try await child.output.complete().split(separator: "\n").map { line in
            try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        // Two syncs a round trip at least; the syncs of other programs are not delayed, and left out.
        try #require(rows.count == 7)
        let trip = rows[0]
        #expect(try #require(trip["alertq"] as? Double) <= 250)
        #expect(try #require(trip["plain"] as? Double) <= 250)
        let appearance = rows[1]
        #expect(try #require(appearance["plain"] as? Double) >= 2000)
        // An ask is on disk before it is shown, also after a pause.
        #expect(try #require(rows[3]["alertq"] as? Double) >= 2000)
        // The same for the loop in C, and three syncs a job.
        #expect(try #require(rows[4]["plain"] as? Double) <= 250)
        #expect(try #require(rows[5]["plain"] as? Double) <= 1000 / 6)
        #expect(rows.allSatisfy { $0["benchmark"] as? String == "round-trip" })
    }

    @Test("A filled queue is clean, and is reused where it was kept")
    func filled() async throws {
        let queue = try CommandLineQueue()
        for _ in 1...2 {
            let child = try Child(
                Self.program, ["--small", "--keep", queue.directory, "verify", "growth"])
            #expect(await child.exit(within: .seconds(240)) == 0)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: queue.directory)
        let databases = files.filter { $0.hasSuffix(".db") }
        #expect(databases.count == 3)
        for name in databases {
            try FileManager.default.copyItem(
                atPath: "\(queue.directory)/\(name)", toPath: queue.path)
            #expect(try await queue.faults() == [], "\(name)")
            for ending in ["", "-wal", "-shm"] { unlink(queue.path + ending) }
        }
    }

    @Test("The table names the machine, and every benchmark is listed")
    func table() async throws {
        let list = try Child(Self.program, ["--list"])
        #expect(await list.exit() == 0)
        let names = await list.output.complete().split(separator: "\n").compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
        #expect(
            names == [
                "ask", "processes", "service", "round-trip", "bell", "history", "text", "purge",
                "open", "command", "verify", "growth", "pages", "server",
            ])
        let help = try Child(Self.program, ["--help"])
        #expect(await help.exit() == 0)
        #expect(await help.output.complete().contains("--full"))
    }

    @Test("A benchmark that does not exist is refused with a reason, and exits with 1")
    func unknown() async throws {
        let child = try Child(Self.program, ["nothing"])
        #expect(await child.exit() == 1)
        #expect(await child.errors.complete().contains("“nothing”"))
        #expect(await child.output.complete().isEmpty)
    }
}
