import AlertQueue
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The output of `audit export` is checked by an independent verifier.
@Suite("Audit export", .inParallel)
struct AuditExportTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static func script(_ name: String) -> String {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        return here.appending(path: name).path
    }

    private var export: String { queue.directory + "/export" }

    /// Asks and answers until the log has a number of entries, with texts of every kind.
    private func fill(_ count: Int) async throws {
        let manager = try await AlertManager(path: queue.path, source: "a \"b\" \\ ü 🎉")
        let tasks = 50
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for number in 0..<(count / tasks / 3 + 1) {
                        let alert = Alert(
                            "Question \(number)?", buttons: ["Yes", .cancel("No")],
                            deadline: number % 3 == 0 ? .after(.seconds(3600)) : nil)
                        let id = try await manager.submit(alert).record.id
                        if task % 5 == 0 {
                            _ = try await manager.snooze(id)
                            _ = try await manager.withdraw(id)
                        } else {
                            _ = try await manager.answer(id, button: "Yes")
                            try await manager.collect(id)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        await manager.close()
    }

    private func exportLog(_ options: String...) async throws {
        let words = ["audit", "export"] + options
        let shell = try Child(
            "sh",
            ["-c", "exec \(CommandLineQueue.program) \(words.joined(separator: " ")) >\(export)"],
            environment: ["ALERTQ_DATABASE": queue.path])
        #expect(await shell.exit() == 0)
    }

    private func python(_ name: String, _ arguments: String...) async throws -> Finished {
        let child = try Child("python3", ["-B", Self.script(name)] + arguments)
        _ = await child.exit(within: .seconds(120))
        return await child.finish()
    }

    @Test("The verifier agrees on 10,000 entries, and finds each of 1,000 forgeries where it is")
    func forgeries() async throws {
        try await fill(10_000)
        try await exportLog()
        let head = try await queue.run("audit", "head").output.dropLast()
        let verified = try await python("verify_export.py", "--head", String(head), export)
        let entries = try #require(Int(head.split(separator: ":")[0]))
        #expect(entries >= 10_000)
        #expect(
            verified.output == "\(entries) entries verify; the head is \(head)\n",
            "\(verified.errors)")
        let forged = try await python("forge.py", export, "1000", "\(TestRandom.seed)")
        let kinds = forged.output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(kinds.count == 8, "\(forged)")
        #expect(kinds.allSatisfy { $0[1] == $0[2] }, "\(forged)")
        #expect(kinds.reduce(0) { $0 + (Int($1[1]) ?? 0) } >= 950)
        // The control: where nothing was forged, nothing is found.
        let control = try await python("forge.py", export, "20", "1", "nothing")
        #expect(control.output == "nothing 20 0\n")
    }

    @Test("Each line has exactly the fields of the table, in its order")
    func fields() async throws {
        _ = try await queue.run("ask", "Secret?", "--detach")
        let line = try await queue.run("audit", "export").output
        let columns = try await queue.rows("SELECT name FROM pragma_table_info('audit')")
        let names = line.matches(of: /"([a-z_]+)":/).map { String($0.1) }
        #expect(names == columns && !line.contains("Secret"))
    }

    @Test("An export continues where another ended")
    func parts() async throws {
        try await fill(50)
        let whole = try await queue.run("audit", "export").output
        let entry = try #require(try await queue.objects("audit", "list", "--limit", "7").last)
        let hash = try #require(entry["hash"] as? String)
        try await exportLog("--after", "7")
        let part = try String(contentsOfFile: export, encoding: .utf8)
        #expect(whole.hasSuffix(part) && part.split(separator: "\n").count >= 40)
        let verified = try await python("verify_export.py", "--after", "7:\(hash)", export)
        #expect(verified.code == 0)
        let wrong = String(hash.reversed())
        let refused = try await python("verify_export.py", "--after", "7:\(wrong)", export)
        #expect(refused.code == 1 && refused.errors.hasPrefix("entry 8 does not continue"))
    }

    @Test("A forged database is exported as it is, and the verifier names the entry")
    func forgedDatabase() async throws {
        try await fill(30)
        try await queue.forge("UPDATE audit SET user = 'eve' WHERE seq = 12")
        try await exportLog()
        let verified = try await python("verify_export.py", export)
        #expect(verified.code == 1 && verified.errors == "entry 12 was changed\n")
    }

    @Test("An interrupted export ends with a whole line, and a missing queue is reported")
    func interrupted() async throws {
        #expect(try await queue.run("audit", "export").code == 66)
        try await fill(2000)
        let pipe = queue.directory + "/pipe"
        mkfifo(pipe, 0o600)
        let reader = open(pipe, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        defer { close(reader) }
        let shell = try Child(
            "sh", ["-c", "exec \(CommandLineQueue.program) audit export >\(pipe)"],
            environment: ["ALERTQ_DATABASE": queue.path])
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        #expect(
            await eventually {
                var waiting: Int32 = 0
                _ = ioctl(reader, UInt(FIONREAD), &waiting)
                return waiting > 45_000
            })
        shell.kill(SIGTERM)
        // Until it has taken the signal in, the reader leaves the pipe full: otherwise the export
        // might end before.
        #expect(await eventually { shell.isAsleep })
        let limit = ContinuousClock.now + .seconds(60)
        while shell.poll() == nil, ContinuousClock.now < limit {
            let count = read(reader, &buffer, buffer.count)
            if count > 0 { text += buffer[..<count] } else { usleep(1000) }
        }
        #expect(await shell.exit() == 128 + SIGTERM)
        while case let count = read(reader, &buffer, buffer.count), count > 0 {
            text += buffer[..<count]
        }
        #expect(text.last == UInt8(ascii: "\n"))
        let lines = text.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count < 1900 && lines.allSatisfy { $0.last == UInt8(ascii: "}") })
    }
}
