import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Told in time", .inParallel)
struct ToldInTimeTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func shell(_ script: String) throws -> Child {
        try Child(
            "sh", ["-c", script, "sh", CommandLineQueue.program],
            environment: ["ALERTQ_DATABASE": queue.path])
    }

    @Test("An id that can't be printed is told on stderr, because the alert is stored")
    func unprintableID() async throws {
        let finished = try await shell("\"$1\" ask Well? --detach >/dev/full").finish()
        #expect(finished.code == 74)
        #expect(finished.errors.contains("the alert is stored as 1"), "\(finished.errors)")
        #expect(try await queue.objects("list").count == 1)
    }

    @Test("A choice that can't be printed is told on stderr, and stays uncollected")
    func unprintableChoice() async throws {
        let asker = try shell("\"$1\" ask Well? -b yes --cancel no >/dev/full")
        #expect(await eventually { asker.errors.text.contains("answer with") })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let finished = await asker.finish()
        #expect(finished.code == 74)
        #expect(finished.errors.contains("alert 1: answered “yes”"), "\(finished.errors)")
        #expect(try await queue.objects("history", "--uncollected").count == 1)
    }

    @Test("A path in the environment that is not UTF-8 is refused, and no other queue is made")
    func invalidPath() async throws {
        let script = """
            cd "$(dirname "$ALERTQ_DATABASE")" && ALERTQ_DATABASE="$(printf '%s/\\377.db' "$PWD")" \
            "$1" notify Done
            """
        let finished = try await shell(script).finish()
        #expect(finished.code == 65)
        #expect(finished.errors.contains("ALERTQ_DATABASE is not valid UTF-8"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: queue.directory) == [])
    }

    @Test("An empty file that takes the queue in gets the mode of a queue's files")
    func emptyFile() async throws {
        #expect(FileManager.default.createFile(atPath: queue.path, contents: nil))
        chmod(queue.path, 0o644)
        #expect(try await queue.run("notify", "Done").code == 0)
        for ending in ["", "-wal", "-shm", "-lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: queue.path + ending)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(ending)")
        }
    }
}
