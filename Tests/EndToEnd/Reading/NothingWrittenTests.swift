import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Reading never writes", .inParallel)
struct NothingWrittenTests {
    private static let ana = LinuxAccount(uid: 60_001, gid: 60_001)
    /// Where copies are made, for every user.
    private let temporary: CommandLineQueue
    private let queue: CommandLineQueue

    init() throws {
        temporary = try CommandLineQueue(mode: 0o777)
        queue = try CommandLineQueue(mode: 0o755)
    }

    static let verbs: [[String]] = [
        ["list"], ["list", "--all", "--json"], ["list", "--count"], ["list", "--text", "words"],
        ["show", "1", "2", "3"], ["show", "1", "--json"], ["history"], ["history", "--json"],
        ["history", "--text", "words"], ["stats"], ["stats", "--prometheus"], ["audit", "list"],
        ["audit", "head"], ["audit", "verify"], ["audit", "export"], ["doctor"],
        ["doctor", "--strict"], ["completions", "bash", "--", "show"],
    ]

    /// The contents of all files of a directory, except for SQLite's shared memory.
    private func contents(_ directory: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        return try Dictionary(
            uniqueKeysWithValues: names.filter { !$0.hasSuffix("-shm") }.map { name in
                (name, try Data(contentsOf: URL(filePath: directory + "/" + name)))
            })
    }

    /// Alert 1 will be overdue, long after the verbs here have ended, which would store that; the
    /// snooze of alert 2 will be over, and the words of the response to alert 3 are in no index.
    private func fill(_ whileAsked: () async throws -> Void = {}) async throws {
        for (title, time) in [("Overdue?", "20s"), ("Snoozed?", "1h"), ("Words?", "1h")] {
            let asked = try await queue.run(
                "ask", title, "-b", "yes", "--cancel", "no", "--timeout", time, "--detach")
            #expect(asked.code == 0, "\(asked)")
        }
        try await whileAsked()
        #expect(try await queue.run("answer", "3", "yes").code == 0)
        #expect(try await queue.run("snooze", "2", "--for", "1s").code == 0)
    }

    private func isOverdue(_ path: String, as account: LinuxAccount? = nil) async throws -> Bool {
        try await eventually {
            let shown = try await run(["show", "1", "--json"], path, as: account)
            return shown.output.contains(#""outcome":"expired""#)
        }
    }

    private func run(
        _ words: [String], _ path: String, as account: LinuxAccount? = nil
    ) async throws -> Finished {
        let last = words[0] == "completions" ? [""] : []
        return try await queue.start(
            words + ["--database", path] + last, as: account,
            environment: ["TMPDIR": temporary.directory, "HOME": temporary.directory]
        ).finish()
    }

    /// Runs all verbs, none of which may change a file or create one, and checks what they print.
    private func readAll(_ path: String, as account: LinuxAccount? = nil) async throws {
        let directory = URL(filePath: path).deletingLastPathComponent().path
        let before = try contents(directory)
        for words in Self.verbs {
            let finished = try await run(words, path, as: account)
            if words[0] != "doctor" {
                #expect(finished.code == 0, "\(words): \(finished)")
            }
            let after = try contents(directory)
            #expect(after.keys.sorted() == before.keys.sorted(), "\(words)")
            let changed = before.keys.filter { before[$0] != after[$0] }
            #expect(changed.isEmpty, "\(words): \(changed.sorted())")
        }
        let list = try await run(["list"], path, as: account).output
        #expect(list.contains("expired") && list.contains("Snoozed?"), "\(list)")
        #expect(try await run(["list", "--count"], path, as: account).output == "1\n")
        for words in [["list", "--json"], ["show", "1", "--json"]] {
            let output = try await run(words, path, as: account).output
            let lines = output.split(separator: "\n")
            let line = lines.first { $0.contains("Overdue?") } ?? ""
            #expect(line.contains(#""outcome":"expired""#), "\(words): \(output)")
            #expect(line.contains(#""stored":false"#), "\(words): \(output)")
            #expect(lines.count { $0.contains(#""stored":false"#) } == 1, "\(words): \(output)")
        }
        let shown = try await run(["show", "1"], path, as: account).output
        #expect(shown.contains("expired, which is not stored yet"), "\(shown)")
        let history = try await run(["history", "--json"], path, as: account).output
        #expect(history.contains("Words?") && !history.contains("Overdue?"), "\(history)")
        let found = try await run(["history", "--text", "words"], path, as: account).output
        #expect(found.contains("Words?"), "\(found)")
        let statistics = try await run(["stats", "--json"], path, as: account).output
        #expect(statistics.contains(#""waiting":2,"answered":1"#), "\(statistics)")
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary.directory)
        #expect(left.isEmpty, "\(left)")
    }

    @Test("A queue that no process has open stays as it is")
    func atRest() async throws {
        try await fill()
        try #require(try await isOverdue(queue.path))
        try await readAll(queue.path)
        // What is due is stored by the next process that may do so.
        #expect(try await queue.run("wait", "1").code == 12)
        #expect(try await queue.run("history", "--json").output.contains("Overdue?"))
    }

    @Test("So does one that a stopped process has open, with a log")
    func open() async throws {
        let watch = try queue.start(["watch", "--after", "0"])
        try await fill {
            #expect(await eventually { watch.output.text.contains("Words?") })
        }
        try await watch.stop()
        #expect(try !Data(contentsOf: URL(filePath: queue.path + "-wal")).isEmpty)
        try #require(try await isOverdue(queue.path))
        try await readAll(queue.path)
        watch.kill(SIGKILL)
        _ = await watch.exit()
    }

    @Test("So does a backup")
    func backup() async throws {
        try await fill()
        let place = try TemporaryDirectory("alertq-backup-")
        let path = place.path + "/backup.db"
        #expect(try await queue.run("backup", path).code == 0)
        try #require(try await isOverdue(path))
        try await readAll(path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["backup.db"])
    }

    @Test("A copy of the file alone is read, and nothing appears next to it")
    func alone() async throws {
        try await fill()
        let place = try TemporaryDirectory("alertq-copy-")
        let path = place.path + "/copy.db"
        try FileManager.default.copyItem(atPath: queue.path, toPath: path)
        try #require(try await isOverdue(path))
        try await readAll(path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["copy.db"])
    }

    /// What is next to a database in a directory that its reader can't write.
    enum Files: CaseIterable {
        case all
        case withoutSharedMemory
        case databaseAlone
        case logWithoutSharedMemory
        case logAndSharedMemory
    }

    @Test(
        "An account that can't write the directory reads the queue there",
        .enabled(if: geteuid() == 0, "only root can become other users"),
        arguments: Files.allCases)
    func elsewhere(files: Files) async throws {
        try await fill()
        if files == .logWithoutSharedMemory || files == .logAndSharedMemory {
            // Where the process is killed that had the queue open alone, its log stays.
            try await queue.askAndKill("Killed")
            #expect(try !Data(contentsOf: URL(filePath: queue.path + "-wal")).isEmpty)
        }
        switch files {
        case .all, .logAndSharedMemory: break
        case .withoutSharedMemory, .logWithoutSharedMemory: unlink(queue.path + "-shm")
        case .databaseAlone: for ending in ["-shm", "-wal"] { unlink(queue.path + ending) }
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: queue.directory) {
            chmod(queue.directory + "/" + name, 0o644)
        }
        try #require(try await isOverdue(queue.path, as: Self.ana))
        let list = try await run(["list"], queue.path, as: Self.ana)
        #expect(
            list.errors.contains("a copy of it is read") == (files == .logWithoutSharedMemory),
            "\(list)")
        if files == .logWithoutSharedMemory || files == .logAndSharedMemory {
            #expect(list.output.contains("Killed"), "\(list)")
            let left = try FileManager.default.contentsOfDirectory(atPath: temporary.directory)
            #expect(left.isEmpty, "\(left)")
        } else {
            try await readAll(queue.path, as: Self.ana)
        }
        #expect(try await run(["doctor"], queue.path, as: Self.ana).code == 77)
    }
}
