import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Files that other accounts put in the place of a queue's files.
@Suite(
    "Files of others", .inParallel, .enabled(if: geteuid() == 0, "only root can become other users")
)
struct PlantedFileTests {
    private static let stranger = SystemQueueTests.stranger
    private static let member = SystemQueueTests.member

    /// Runs a script as an account that may write the queue's directory.
    private func prepare(
        _ script: String, in queue: CommandLineQueue, as account: LinuxAccount
    ) async throws {
        let child = try Child(
            "sh", ["-ec", script], environment: ["Q": queue.path, "A": CommandLineQueue.program],
            as: account)
        let code = await child.exit()
        let errors = await child.errors.complete()
        #expect(code == 0, "\(errors)")
    }

    @Test(
        "Pipes, links and foreign files next to a database are refused at once, by name",
        arguments: ["-journal", "-wal", "-shm"],
        ["mkfifo $F", "ln -s /etc/passwd $F", "echo x > $F", "mkdir $F"])
    func file(ending: String, script: String) async throws {
        let queue = try CommandLineQueue(mode: 0o1777)
        try await prepare("F=$Q\(ending); \(script)", in: queue, as: Self.stranger)
        for verb in [["list", "--database", queue.path], ["notify", "Done"]] {
            let result = try await queue.start(verb).finish()
            #expect(result.code == (verb[0] == "list" ? 66 : 77), "\(verb) \(result)")
            if result.code == 77 { #expect(result.errors.contains(queue.path + ending)) }
        }
        // The planted files are unchanged.
        #expect(!FileManager.default.fileExists(atPath: queue.path))
    }

    @Test("A FIFO that replaces the journal later is refused as well")
    func later() async throws {
        let queue = try CommandLineQueue(mode: 0o1777)
        #expect(try await queue.run("notify", "Done").code == 0)
        try await prepare("mkfifo $Q-journal", in: queue, as: Self.stranger)
        let result = try await queue.run("list")
        #expect(result.code == 77 && result.errors.contains("not a regular file"), "\(result)")
    }

    @Test("A stranger's empty file, or a link, never becomes a queue")
    func database() async throws {
        for script in [": > $Q", "ln -s \(FileManager.default.currentDirectoryPath)/empty $Q"] {
            let queue = try CommandLineQueue(mode: 0o1777)
            try await prepare(script, in: queue, as: Self.stranger)
            let result = try await queue.run("notify", "Done")
            #expect(result.code == 77 && result.errors.contains(queue.path), "\(result)")
        }
    }

    @Test("A link to an empty file of root is not followed in a directory others may write to")
    func link() async throws {
        let queue = try CommandLineQueue(mode: 0o1777)
        let target = queue.directory + "/empty"
        #expect(FileManager.default.createFile(atPath: target, contents: nil))
        try await prepare("ln -s \(target) $Q", in: queue, as: Self.stranger)
        let result = try await queue.run("notify", "Done")
        #expect(result.code == 77 && result.errors.contains("link"), "\(result)")
        let size = try FileManager.default.attributesOfItem(atPath: target)[.size] as? Int
        #expect(size == 0)
    }

    @Test("A stranger's queue is not used in a directory that anybody may write to")
    func foreignQueue() async throws {
        let queue = try CommandLineQueue(mode: 0o1777)
        try await prepare("ALERTQ_DATABASE=$Q $A notify Mine", in: queue, as: Self.stranger)
        let result = try await queue.run("list")
        #expect(result.code == 77, "\(result)")
        #expect(result.errors.contains("belongs to uid \(Self.stranger.uid)"))
    }

    @Test("Another member's empty file does not become the group's queue")
    func emptyFile() async throws {
        let queue = try CommandLineQueue(sharedBy: SystemQueueTests.group)
        try await prepare(": > $Q", in: queue, as: Self.member)
        let result = try await queue.run("notify", "Done")
        #expect(result.code == 77 && result.errors.contains("it is empty"), "\(result)")
    }

    @Test("In a group's own directory any member's queue belongs to all members")
    func group() async throws {
        let queue = try CommandLineQueue(sharedBy: SystemQueueTests.group)
        try await prepare("ALERTQ_DATABASE=$Q $A notify Ours", in: queue, as: Self.member)
        #expect(try await queue.run("list").code == 0)
        #expect(try await queue.run("notify", "Yours").code == 0)
    }

    @Test("In the user's own directory, a link to the queue is followed")
    func ownLink() async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("notify", "Done").code == 0)
        let link = queue.directory + "/link.db"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: queue.path)
        let result = try await queue.run("list", "--database", link)
        #expect(result.code == 0 && result.output.contains("Done"))
    }
}
