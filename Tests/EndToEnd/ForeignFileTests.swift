import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Foreign files", .inParallel)
struct ForeignFileTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Makes the file that stands where the queue should be.
    private static let makers: [(name: String, script: String, says: String)] = [
        ("a directory", "mkdir \"$1\"", "is a directory"),
        ("a text file", "echo hello > \"$1\"", "is not an SQLite database"),
        (
            "another program's database", "sqlite3 \"$1\" 'CREATE TABLE t (x)'",
            "is the database of another program"
        ),
        (
            "a newer version's database",
            "sqlite3 \"$1\" 'PRAGMA application_id=1634497137; PRAGMA user_version=99; "
                + "CREATE TABLE t (x)'", "newer version"
        ),
    ]

    @Test("What is not our database is refused and not touched", arguments: makers.indices)
    func refused(index: Int) async throws {
        let maker = Self.makers[index]
        let made = try Child("sh", ["-c", maker.script, "sh", queue.path])
        #expect(await made.exit() == 0)
        let before = try await fingerprint()
        for verb in [["notify", "Done"], ["list"], ["answer", "1", "OK"]] {
            let child = try queue.start(verb)
            #expect(await child.exit() == 74, "\(maker.name): \(verb)")
            let errors = await child.errors.complete()
            #expect(errors.contains(maker.says), "\(errors)")
        }
        #expect(try await fingerprint() == before, "\(maker.name)")
    }

    /// The names and contents of everything in the queue's directory.
    private func fingerprint() async throws -> String {
        let child = try Child(
            "sh",
            [
                "-c", "cd \"$1\" && find . -printf '%p %s %T@\\n' | sort; cat queue.db | sha256sum",
                "sh", queue.directory,
            ])
        _ = await child.exit()
        return await child.output.complete()
    }
}
