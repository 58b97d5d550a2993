import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// `Tests/Examples/backup.sh`, killed after each program that it runs, and run again.
///
/// Each program that it uses is a wrapper, which runs the real one and counts; after the one whose
/// number is in the file `kill`, it kills the script with all that belongs to it.
@Suite("Example: a backup script", .inParallel)
struct BackupExampleTests {
    private static let script = CodeBlock.root.appending(path: "Tests/Examples/backup.sh").path
    private static let programs = [
        "alertq", "cksum", "date", "mv", "rm", "sort", "sync", "tail", "tar", "tr",
    ]
    private static let old = ["2026-01-01", "2026-01-02", "2026-01-03"]

    @Test("Killed after any of its programs and run again, it asks once, and deletes after a yes")
    func killed() async throws {
        var point = 1
        while true {
            let story = try await Self.story(Self.script, killedAfter: point)
            #expect(story.problems.isEmpty, "after \(point): \(story.problems)")
            guard story.wasKilled else { break }
            point += 1
        }
        #expect(point > 12, "It runs more programs than that")
    }

    @Test("A script whose key changes with each run is found to ask twice")
    func negativeControl() async throws {
        let text = try String(contentsOfFile: Self.script, encoding: .utf8)
        let copy = try CommandLineQueue()
        let path = copy.directory + "/backup.sh"
        let broken = text.replacing("$(cksum <\"$plan\" | tr ' ' -)", with: "$$")
        #expect(broken != text)
        try broken.write(toFile: path, atomically: true, encoding: .utf8)
        let story = try await Self.story(path, killedAfter: .max)
        #expect(story.problems.contains { $0.hasPrefix("asked") }, "\(story.problems)")
    }

    @Test("A no keeps everything, and the question is not asked again on that day")
    func no() async throws {
        let backup = try Backup(Self.script)
        #expect(try await backup.run().code == 0)
        #expect(try await backup.queue.run("answer", "1", "keep").code == 0)
        #expect(try await backup.run().code == 0)
        #expect(try await backup.run().code == 0)
        #expect(try backup.names.count == 4)
        #expect(try await backup.queue.objects("list").isEmpty)
    }

    @Test("The script runs in any POSIX shell")
    func syntax() async throws {
        for shell in [["dash", "-n"], ["bash", "--posix", "-n"], ["shellcheck"]] {
            guard shell[0] != "shellcheck" || Self.hasProgram("shellcheck") else { continue }
            let check = try Child(shell[0], shell.dropFirst() + [Self.script])
            let finished = await check.finish()
            #expect(finished.code == 0, "\(finished.output)\(finished.errors)")
        }
    }

    private static func hasProgram(_ name: String) -> Bool {
        CodeBlock.path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    /// The result of a script that was killed, or not, and run until all was done.
    private struct Story {
        var wasKilled = false
        var problems: [String] = []
    }

    /// Runs the script until all is done, and answers its question.
    private static func story(
        _ script: String, killedAfter point: Int
    ) async throws -> Story {
        let backup = try Backup(script)
        try "\(point)".write(
            toFile: backup.queue.directory + "/kill", atomically: true, encoding: .utf8)
        var story = Story()
        var isAnswered = false
        for _ in 0..<6 {
            let run = try await backup.run()
            if run.code == 128 + SIGKILL {
                story.wasKilled = true
            } else if run.code != 0 {
                story.problems.append("ended with \(run.code ?? -1): \(run.errors)")
            }
            story.problems += try await backup.brokenArchives()
            if !isAnswered, try !Set(backup.names).isSuperset(of: old) {
                story.problems.append("deleted without a yes")
            }
            if isAnswered, run.code == 0 { break }
            let waiting = try await backup.queue.objects("list")
            guard !waiting.isEmpty else { continue }
            isAnswered = true
            _ = try await backup.queue.run("answer", "1", "delete")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: backup.destination)
        if Set(left) != ["2026-01-03.tar", "2026-01-04.tar"] {
            story.problems.append("left \(left)")
        }
        let count = try await backup.queue.rows("SELECT count(*) FROM alerts")
        if count != ["1"] { story.problems.append("asked \(count) times") }
        return story
    }

    /// A directory with three old backups, of which two stay with a new one.
    private struct Backup {
        let queue: CommandLineQueue
        let script: String
        var destination: String { queue.directory + "/backups" }

        init(_ script: String) throws {
            self.script = script
            queue = try CommandLineQueue()
            let files = FileManager.default
            for folder in ["source", "backups", "bin"] {
                try files.createDirectory(
                    atPath: queue.directory + "/" + folder, withIntermediateDirectories: true)
            }
            try "precious".write(
                toFile: queue.directory + "/source/file", atomically: true, encoding: .utf8)
            for day in old {
                // Two blocks of zeros: an empty archive; see tar(5).
                try Data(count: 1024).write(to: URL(filePath: "\(destination)/\(day).tar"))
            }
            let wrapper = """
                #!/bin/sh
                here=\(queue.directory) name=${0##*/}
                case $name in
                alertq) \(CommandLineQueue.program) "$@" ;;
                date) echo 2026-01-04 ;; # Midnight may come in the middle of a test.
                *) PATH=/usr/bin:/bin "$name" "$@" ;;
                esac
                code=$?
                echo >>"$here/count"
                if [ -e "$here/kill" ] && [ "$(wc -l <"$here/count")" -eq "$(cat "$here/kill")" ]
                then kill -KILL 0
                fi
                exit $code
                """
            // By a process of its own: if a descriptor that writes one of them leaks into a child of
            // another test, the shell can't start it (ETXTBSY), and takes the real program.
            let original = queue.directory + "/wrapper"
            try wrapper.write(toFile: original, atomically: true, encoding: .utf8)
            let install = try Child(
                "sh",
                ["-c", #"for name; do install -m 755 "$0" "${0%/*}/bin/$name"; done"#, original]
                    + programs)
            guard install.wait() == 0 else { throw POSIXError(.EIO) }
        }

        func run() async throws -> Finished {
            let shell = try Child(
                "dash", [script, queue.directory + "/source", destination],
                environment: [
                    "ALERTQ_DATABASE": queue.path, "KEEP": "2", "PATIENCE": "10ms",
                    "PATH": "\(queue.directory)/bin:/usr/bin:/bin",
                ])
            return await shell.finish()
        }

        /// The days of the backups that exist.
        var names: [String] {
            get throws {
                try FileManager.default.contentsOfDirectory(atPath: destination)
                    .filter { $0.hasSuffix(".tar") }.map { String($0.dropLast(4)) }
            }
        }

        /// A file with the name of a backup that is not one.
        func brokenArchives() async throws -> [String] {
            var broken: [String] = []
            for name in try names {
                let tar = try Child("tar", ["-tf", "\(destination)/\(name).tar"])
                let listed = await tar.finish()
                let isWhole = old.contains(name) || listed.output.contains("./file")
                if listed.code != 0 || !isWhole { broken.append("\(name).tar is broken") }
            }
            return broken
        }
    }
}
