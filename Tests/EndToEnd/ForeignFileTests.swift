import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Foreign files", .inParallel)
struct ForeignFileTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Makes the file in the place of the queue.
    private static let makers: [(name: String, script: String, says: String)] = [
        ("a directory", "mkdir \"$1\"", "is a directory"),
        ("a text file", "echo hello > \"$1\"", "is not an SQLite database"),
        (
            "another program's database", "sqlite3 \"$1\" 'CREATE TABLE t (x)'",
            "is the database of another program"
        ),
        (
            "a newer version's database",
            "sqlite3 \"$1\" 'PRAGMA application_id=1634496819; PRAGMA user_version=99; "
                + "CREATE TABLE t (x)'", "newer version"
        ),
        ("a queue of 0.1.0", first(id: 1_634_497_137, schema: 6), "was made by alertq 0.1.0"),
        (
            "a queue of 0.1.0 with an early schema", first(id: 1_634_497_137, schema: 1),
            "was made by alertq 0.1.0"
        ),
        ("a backup of 0.1.0", first(id: 1_634_497_122, schema: 6), "was made by alertq 0.1.0"),
        ("a queue of 0.2.0", first(id: 0x616c_7132, schema: 1), "was made by alertq 0.2.0"),
        ("a backup of 0.2.0", first(id: 0x616c_6232, schema: 1), "was made by alertq 0.2.0"),
    ]

    /// Makes a file as an earlier version marked it, in WAL mode.
    private static func first(id: UInt32, schema: Int) -> String {
        """
        sqlite3 "$1" 'PRAGMA journal_mode = WAL; PRAGMA application_id = \(id);
            PRAGMA user_version = \(schema);
            CREATE TABLE alerts (id INTEGER PRIMARY KEY, title TEXT);
            INSERT INTO alerts (title) VALUES ("Prune?")'
        """
    }

    @Test("A file that is not a queue is refused and not touched", arguments: makers.indices)
    func refused(index: Int) async throws {
        let maker = Self.makers[index]
        let made = try Child("sh", ["-c", maker.script, "sh", queue.path])
        #expect(await made.exit() == 0)
        let before = try await fingerprint()
        for verb in [
            ["notify", "Done"], ["list"], ["history"], ["audit", "verify"], ["doctor"],
            ["answer", "1", "OK"],
        ] {
            let child = try queue.start(verb)
            #expect(await child.exit() == 74, "\(maker.name): \(verb)")
            let text = await child.errors.complete() + child.output.complete()
            #expect(text.contains(maker.says), "\(verb): \(text)")
        }
        #expect(try await fingerprint() == before, "\(maker.name)")
    }

    @Test(
        "A queue that has lost its numbers is recognised, and works with those that are named",
        arguments: [
            "sqlite3 \"$1\" .dump > \"$1.sql\" && rm \"$1\" && sqlite3 \"$1\" < \"$1.sql\"",
            "sqlite3 \"$1\" 'PRAGMA user_version = 0'",
            "sqlite3 \"$1\" 'PRAGMA application_id = 0'",
        ])
    func numbers(script: String) async throws {
        #expect(try await queue.run("notify", "Done").code == 0)
        let made = try await Child("sh", ["-c", script, "sh", queue.path]).finish()
        #expect(made.code == 0, "\(made)")
        for verb in [["notify", "More"], ["list"], ["doctor"]] {
            let refused = try await queue.start(verb).finish()
            let text = refused.output + refused.errors
            #expect(refused.code == 74 && text.contains("has the tables of a queue"), "\(refused)")
        }
        let error = try await queue.run("list").errors
        let command = try #require(error.firstMatch(of: /sqlite3 \S+ ".*"/)).output
        #expect(try await Child("sh", ["-c", String(command)]).finish().code == 0)
        #expect(try await queue.run("list").output.contains("Done"))
        #expect(try await queue.run("notify", "More").code == 0)
        #expect(try await queue.isSound())
    }

    @Test("The error of a queue of 0.1.0 says what to do, and a restore does not replace it")
    func first() async throws {
        let made = try Child("sh", ["-c", Self.makers[4].script, "sh", queue.path])
        #expect(await made.exit() == 0)
        let refused = try await queue.run("list")
        for words in [
            "Keep alertq 0.1.0 to read it", "“alertq audit export”", "“alertq history --json”",
            "its keys are new", "it was not touched",
        ] {
            #expect(refused.errors.contains(words), "\(refused)")
        }
        let other = try CommandLineQueue()
        _ = try await other.run("notify", "Done")
        let file = queue.directory + "/backup.db"
        #expect(try await other.run("backup", file).code == 0)
        let restored = try await queue.run("restore", file)
        #expect(restored.code == 74 && restored.errors.contains("by alertq 0.1.0"), "\(restored)")
        #expect(try await queue.rows("SELECT title FROM alerts") == ["Prune?"])
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
