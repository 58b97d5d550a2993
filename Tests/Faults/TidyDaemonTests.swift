import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// `Tests/Examples/TidyDaemon`, killed at random times while its questions are answered.
@Suite("Killed daemons", .inParallel)
struct TidyDaemonTests {
    let queue: CommandLineQueue
    let directory: String

    init() throws {
        queue = try CommandLineQueue()
        directory = queue.directory + "/files"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    private enum Fate: CaseIterable {
        case deleted, kept, unanswered, vanished
    }

    private func start() throws -> Child {
        try Child(
            BuiltProgram.path("TidyDaemon"), [directory, "3600"],
            environment: ["ALERTQ_DATABASE": queue.path])
    }

    /// Whether a process catches its signals; see proc_pid_status(5).
    ///
    /// That it blocks or ignores them isn't enough: Dispatch blocks all signals of the first thread
    /// for a moment before the daemon has asked for any, and they would then kill it.
    private static func hearsSignals(_ pid: pid_t) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = (status ?? "").split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
        let mask = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
        let wanted = UInt64(1) << UInt64(SIGTERM - 1) | UInt64(1) << UInt64(SIGUSR1 - 1)
        return mask & wanted == wanted
    }

    private func path(_ name: String) -> String { directory + "/" + name }

    private var files: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
    }

    /// The id of the alert that asks about a file, read from the database.
    private func question(_ name: String) async throws -> Int? {
        try await queue.rows("SELECT id FROM alerts WHERE title = 'Delete \(name)?'").first
            .flatMap { Int($0) }
    }

    /// Creates a file, waits until it is asked about, and applies its fate.
    private func meet(_ fate: Fate, _ name: String) async throws {
        // It appears complete: each later write would make it another version.
        let draft = queue.directory + "/draft"
        try Data(name.utf8).write(to: URL(filePath: draft))
        try FileManager.default.moveItem(atPath: draft, toPath: path(name))
        #expect(try await eventually { try await question(name) != nil })
        let id = try #require(try await question(name))
        switch fate {
        case .deleted: #expect(try await queue.run("answer", "\(id)", "delete").code == 0)
        case .kept: #expect(try await queue.run("answer", "\(id)", "keep").code == 0)
        case .unanswered: break
        case .vanished: try FileManager.default.removeItem(atPath: path(name))
        }
    }

    @Test("Exactly the files with a yes are deleted, and none is asked about twice")
    func killed() async throws {
        var random = TestRandom()
        let wanted = FaultForm.count(short: 12, full: 100)
        var fates: [String: Fate] = [:]
        // Two at a time, one or both of which are killed and replaced again and again.
        var daemons = [try start(), try start()]
        var kills = 0
        while kills < wanted {
            let name = "file \(fates.count)"
            let fate = try #require(Fate.allCases.randomElement(using: &random))
            fates[name] = fate
            try await meet(fate, name)
            // At once, or while a daemon reacts to it.
            usleep(.random(in: 0...30_000, using: &random))
            let victim = Int.random(in: 0..<2, using: &random)
            for index in kills % 10 == 9 ? [0, 1] : [victim] {
                daemons[index].kill(SIGKILL)
                _ = await daemons[index].exit()
                daemons[index] = try start()
                kills += 1
            }
        }
        let left = Set(fates.filter { [.kept, .unanswered].contains($0.value) }.keys)
        // Longer than a takeover takes; meanwhile nothing but the directory is read.
        #expect(await eventually { files == left })
        let collected = "SELECT count(*) FROM alerts WHERE resolved_ms > 0 AND collected_ms IS NULL"
        #expect(try await eventually { try await queue.rows(collected) == ["0"] })
        let waiting = "SELECT count(*) FROM alerts WHERE outcome IS NULL"
        let unanswered = fates.values.count { $0 == .unanswered }
        #expect(try await eventually { try await queue.rows(waiting) == ["\(unanswered)"] })
        #expect(try await queue.rows("SELECT count(*) FROM alerts") == ["\(fates.count)"])
        #expect(files == left)
        // The signal would kill a daemon that has only just started.
        #expect(await eventually { daemons.allSatisfy { Self.hearsSignals($0.pid) } })
        let (reporter, total) = (daemons[0], fates.count)
        reporter.kill(SIGUSR1)
        #expect(await eventually { reporter.output.text.contains("\(total) asked") })
        for daemon in daemons {
            daemon.kill(SIGTERM)
            #expect(await daemon.exit() == 0, "\(daemon.errors.text)")
        }
        #expect(try await queue.isSound())
        FaultForm.report("\(kills) kills of daemons, \(fates.count) files")
    }
}
