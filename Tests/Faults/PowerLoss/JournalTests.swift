import Foundation
import ProcessTesting
import StoreChecks
import TestSupport
import Testing

@Suite(
    "Journal of writes", .inParallel,
    .enabled(if: Tool.hasTracer && Tool.hasCompiler, "needs strace and a C compiler"))
struct JournalTests {
    @Test("The journal records every call on the queue's files that strace sees")
    func complete() async throws {
        let lab = try PowerLab()
        let queue = try CommandLineQueue()
        let recording = try lab.begin(in: queue.directory)
        let calls = try await FaultPoint.calls(
            FaultPoint.changes.filter { !$0.hasSuffix("sync") }, in: queue
        ) { strace in
            let preload = recording.environment().flatMap { ["-E", "\($0.key)=\($0.value)"] }
            let asked = try await queue.start(
                ["ask", "Q", "--detach"], under: strace + preload
            ).finish()
            #expect(asked.code == 0, "\(asked.errors)")
        }
        // Modes are not recorded, and new files are recorded when they are opened.
        let seen = calls.story.filter { !$0.hasPrefix("fchmod") }
        let written = try recording.records().filter { record in
            switch record {
            case .wrote, .resized, .linked: true
            case .unlinked: true
            case .opened, .synced, .acknowledged: false
            }
        }
        let failed = seen.filter { $0.hasPrefix("unlink") && $0.contains("ENOENT") }
        // A new name, and the old one removed.
        let renames = seen.filter { $0.hasPrefix("rename") }
        #expect(written.count == seen.count - failed.count + renames.count, "\(seen)")
        #expect(written.count > 50)
    }

    @Test("The journal records every sync that strace sees without it")
    func syncs() async throws {
        let lab = try PowerLab()
        // A process that takes longer than 100 ms opens the database a second time, to look for
        // deadlines, and that syncs, too. In one of a few attempts both take equally long.
        for attempt in 1...10 {
            let traced = try await tracedSyncs()
            let recorded = try await recordedSyncs(lab)
            #expect(recorded > 10)
            if recorded == traced { return }
            #expect(attempt < 10, "\(recorded) recorded, \(traced) seen")
        }
    }

    private func tracedSyncs() async throws -> Int {
        let queue = try CommandLineQueue()
        let kinds = ["fsync", "fdatasync", "sync_file_range"]
        let calls = try await FaultPoint.calls(kinds, in: queue) { strace in
            let asked = try queue.start(["ask", "Q", "--detach"], under: strace)
            #expect(await asked.exit() == 0)
        }
        return calls.story.count
    }

    private func recordedSyncs(_ lab: PowerLab) async throws -> Int {
        let queue = try CommandLineQueue()
        let recording = try lab.begin(in: queue.directory)
        let asked = try queue.start(["ask", "Q", "--detach"], environment: recording.environment())
        #expect(await asked.exit() == 0)
        return try recording.records().count { if case .synced = $0 { true } else { false } }
    }

    @Test("Synced data is on the disk even if the record of the file's creation comes later")
    func toldLate() throws {
        let lab = try PowerLab()
        let left = try lab.emptyDirectory()
        var disk = try PretendDisk(holding: lab.emptyDirectory())
        let directory = try #require(disk.directory)
        for record: WriteJournal.Record in [
            .opened(name: "file", inode: 7, isNew: false),
            .wrote(inode: 7, offset: 0, Data("a".utf8)),
            .synced(inode: 7), .synced(inode: directory),
            .opened(name: "file", inode: 7, isNew: true),
            .wrote(inode: 7, offset: 1, Data("b".utf8)),
        ] { disk.apply(record) }
        var generator = SeededRandom(seed: 1)
        try disk.losePower(into: left, .nothing, using: &generator)
        #expect(try String(contentsOfFile: left + "/file", encoding: .utf8) == "a")
    }
}
