import Foundation
import Glibc
import ProcessTesting
import StoreChecks
import TestSupport
import Testing

/// Power cuts at random moments, on a disk that may lose what was not synced.
@Suite("Power loss", .inParallel, .enabled(if: Tool.hasCompiler, "needs a C compiler"))
struct PowerLossTests {
    static let runs = FaultForm.count(short: 20, full: 300)
    /// Every tenth run begins without a queue.
    static let newQueueEvery = 10
    private let lab: PowerLab

    init() throws { lab = try PowerLab() }

    @Test("Power cuts while several processes ask and answer lose nothing acknowledged")
    func cuts() async throws {
        let seed = TestRandom.seed
        var generator = TestRandom()
        var image = try await nearlyDueForCheckpoint()
        var ledger = Ledger()
        ledger.note(lines: try await list(image))
        var checkpoints = 0
        for run in 1...Self.runs {
            let isNew = run % Self.newQueueEvery == 0
            let queue = try CommandLineQueue(copyOf: isNew ? lab.emptyDirectory() : image)
            let recording = try lab.begin(in: queue.directory)
            try await askAndAnswer(run, queue, recording)
            let records = try recording.records()
            if !isNew, records.hasWritten(to: "queue.db") { checkpoints += 1 }
            var next = (image: image, ledger: ledger)
            for attempt in 1...2 {
                let cut = Int.random(in: 0...records.count, using: &generator)
                let survival =
                    PretendDisk.Survival.allCases.randomElement(using: &generator) ?? .nothing
                let left = try lab.emptyDirectory()
                try recording.cut(
                    after: records[..<cut], into: left, survival, using: &generator)
                let told = isNew ? Ledger() : Ledger(ledger.all)
                told.note(lines: records[..<cut].acknowledgements)
                let faults = try await faultsAfterStart(left, told)
                #expect(
                    faults == [],
                    "run \(run), cut \(cut) of \(records.count), \(survival), seed \(seed)"
                )
                if attempt == 1, !isNew {
                    next = (left, told)
                } else {
                    try FileManager.default.removeItem(atPath: left)
                }
            }
            // The next run continues with what the first cut left.
            if next.image != image { try FileManager.default.removeItem(atPath: image) }
            (image, ledger) = next
        }
        let told = ledger.all
        FaultForm.report(
            "\(2 * Self.runs) power cuts in \(Self.runs) runs, \(checkpoints) with a checkpoint: "
                + "\(told.asked.count) asks and \(told.answered.count) answers acknowledged")
        #expect(checkpoints > 0)
        #expect(!ledger.all.asked.isEmpty)
        #expect(!ledger.all.answered.isEmpty)
    }

    @Test("A power cut at any moment while a queue is created leaves a working queue")
    func making() async throws {
        let seed = TestRandom.seed
        var generator = TestRandom()
        let queue = try CommandLineQueue()
        let recording = try lab.begin(in: queue.directory)
        let asked = try queue.start(Self.ask("First"), environment: recording.environment())
        #expect(await asked.exit() == 0)
        let records = try recording.records()
        // The short form tests different cuts in each run.
        let stride = FaultForm.count(short: 4, full: 1)
        for cut in Swift.stride(
            from: Int.random(in: 0..<stride, using: &generator), through: records.count, by: stride)
        {
            for survival in [PretendDisk.Survival.pages, .sectors] {
                let left = try lab.emptyDirectory()
                try recording.cut(
                    after: records[..<cut], into: left, survival, using: &generator)
                let told = Ledger()
                told.note(lines: records[..<cut].acknowledgements)
                let faults = try await faultsAfterStart(left, told)
                #expect(faults == [], "cut \(cut), \(survival), seed \(seed)")
            }
        }
    }

    @Test("With a disk that lies about syncs, the same check finds acknowledged alerts lost")
    func lyingDisk() async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("notify", "First").code == 0)
        let recording = try lab.begin(in: queue.directory)
        for number in 1...3 {
            let asked = try queue.start(
                Self.ask("Lost \(number)"), environment: recording.environment(lyingAbout: ""))
            #expect(await asked.exit() == 0)
        }
        let faults = try await faultsAfterCut(recording)
        for number in 1...3 {
            #expect(faults.contains { $0.contains("Lost \(number)") }, "\(faults)")
        }
    }

    @Test("An alert that a killed asker left unsynced is synced before it is acknowledged")
    func toldOfAnotherOnesWrite() async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("notify", "First").code == 0)
        // The shell checkpoints the write-ahead log and removes it: the next asker creates it anew.
        #expect(try await queue.rows("SELECT count(*) FROM alerts") == ["1"])
        let recording = try lab.begin(in: queue.directory)
        // The log has the alert, but no sync took effect, as if killed just before the first.
        let killed = try queue.start(
            Self.ask("Q").filter { $0 != "--detach" },
            environment: recording.environment(lyingAbout: ""))
        #expect(await eventually { killed.errors.text.contains("waiting for an answer") })
        killed.kill(SIGKILL)
        _ = await killed.exit()
        let unsynced = try recording.records().count
        let told = try queue.start(Self.ask("Q"), environment: recording.environment())
        #expect(await told.exit() == 0)
        #expect(try await faultsAfterCut(recording, tellingAfter: unsynced) == [])
    }

    @Test("A plain SQLite loop loses nothing with FULL, and acknowledged rows with NORMAL")
    func plainLoop() async throws {
        var generator = SeededRandom(seed: 1)
        for (synchronous, loses) in [("FULL", false), ("NORMAL", true)] {
            let directory = try lab.emptyDirectory()
            let recording = try lab.begin(in: directory)
            let loop = try Child(
                lab.plain, [directory + "/plain.db", synchronous, "30"],
                environment: recording.environment())
            #expect(await loop.exit() == 0, "\(loop.errors.text)")
            let records = try recording.records()
            var lost = 0
            for survival in PretendDisk.Survival.allCases {
                for cut in stride(from: records.count, to: 0, by: -7) {
                    let left = try lab.emptyDirectory()
                    try recording.cut(
                        after: records[..<cut], into: left, survival, using: &generator)
                    let told = records[..<cut].acknowledgements.split(separator: "\n").count
                    let found = try await plainRows(left + "/plain.db")
                    lost += max(0, told - found)
                }
            }
            #expect((lost > 0) == loses, "\(synchronous): \(lost) acknowledged rows were lost")
        }
    }
}

// MARK: - Steps

extension PowerLossTests {
    private static func ask(_ title: String, message: String = "") -> [String] {
        [
            "ask", title, "-m", message, "-b", "yes", "--cancel", "no", "--key", title, "--detach",
            "--json",
        ]
    }

    /// Runs two askers and an answerer, with a new process for each step.
    private func askAndAnswer(
        _ run: Int, _ queue: CommandLineQueue, _ recording: PowerLab.Recording
    ) async throws {
        let environment = recording.environment()
        try await withThrowingTaskGroup { group in
            for asker in 1...2 {
                group.addTask {
                    for number in 1...3 {
                        let message = String(repeating: "x", count: number == 2 ? 9_000 : 0)
                        let child = try queue.start(
                            Self.ask("Question \(run).\(asker).\(number)", message: message),
                            environment: environment)
                        #expect(await child.exit() == 0)
                    }
                }
            }
            group.addTask {
                var random = TestRandom(run)
                for button in ["yes", "no", "yes"] {
                    let list = try queue.start(
                        ["list", "--limit", "1000", "--json"], environment: environment)
                    let waiting = Ledger()
                    waiting.note(lines: await list.finish().output)
                    guard let id = waiting.all.asked.keys.sorted().randomElement(using: &random)
                    else { continue }
                    let child = try queue.start(
                        ["answer", "\(id)", button, "--json"], environment: environment)
                    #expect(await child.exit() == 0)
                }
            }
            try await group.waitForAll()
        }
    }

    /// A queue whose write-ahead log is nearly due for a checkpoint.
    private func nearlyDueForCheckpoint() async throws -> String {
        let queue = try CommandLineQueue()
        let dueBytes = 900 * 4120
        for number in 1...200 {
            #expect(try await queue.start(Self.ask("Seed \(number)")).exit() == 0)
            let log = try FileManager.default.attributesOfItem(atPath: queue.path + "-wal")
            if (log[.size] as? Int ?? 0) > dueBytes { break }
        }
        let image = try lab.emptyDirectory()
        try FileManager.default.removeItem(atPath: image)
        try FileManager.default.copyItem(atPath: queue.directory, toPath: image)
        return image
    }

    private func list(_ image: String) async throws -> String {
        try await CommandLineQueue(copyOf: image).run("list", "--limit", "1000", "--json").output
    }

    /// The faults after the machine has restarted and the queue has been used again.
    private func faultsAfterStart(_ image: String, _ told: Ledger) async throws -> [String] {
        let queue = try CommandLineQueue(copyOf: image)
        let told = Ledger(told.all)
        let asked = try await queue.start(Self.ask("After")).finish()
        guard asked.code == 0 else { return ["asking fails: \(asked.errors)"] }
        told.note(lines: asked.output)
        return try await queue.faults(against: told)
    }

    /// The faults after a power cut in which everything unsynced is lost, right after the last
    /// acknowledgement: a moment later the process closes the queue, which syncs the log.
    private func faultsAfterCut(
        _ recording: PowerLab.Recording, tellingAfter first: Int = 0
    ) async throws -> [String] {
        var generator = SeededRandom(seed: 1)
        let records = try recording.records()
        let end = try #require(
            records.lastIndex { if case .acknowledged = $0 { true } else { false } })
        let left = try lab.emptyDirectory()
        try recording.cut(after: records[...end], into: left, .nothing, using: &generator)
        let told = Ledger()
        told.note(lines: records[first...].acknowledgements)
        return try await faultsAfterStart(left, told)
    }

    private func plainRows(_ path: String) async throws -> Int {
        // A table that was never created has no rows.
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        let shell = try Child("sqlite3", [path, "PRAGMA integrity_check; SELECT id FROM rows;"])
        let lines = await shell.finish().output.split(separator: "\n")
        #expect(lines.first == "ok")
        return lines.count - 1
    }
}
