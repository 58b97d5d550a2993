import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Missing queues, and queues that an account may not write to.
@Suite(
    "Opening a queue", .inParallel, .enabled(if: geteuid() == 0, "only root can become other users")
)
struct OpeningTests {
    private static let ana = LinuxAccount(uid: 60_001, gid: 60_001)

    /// Runs a verb as ana on her own queue, unless another is named.
    private func run(_ words: [String], in home: CommandLineQueue) async throws -> Finished {
        try await Child(
            CommandLineQueue.program, words,
            environment: ["HOME": home.directory, "XDG_STATE_HOME": home.directory + "/state"],
            as: Self.ana
        ).finish()
    }

    @Test(
        "Reading the user's own queue before the first ask finds and creates nothing",
        arguments: [
            (["list"], ""), (["list", "--count"], "0\n"), (["history"], ""),
            (["audit", "list"], ""), (["audit", "export"], ""),
            (["audit", "verify"], "0 entries verify\n"), (["history", "--json"], ""),
            (["stats", "--source", "none", "--json"], nil),
        ])
    func empty(words: [String], output: String?) async throws {
        let home = try CommandLineQueue(mode: 0o777)
        let finished = try await run(words, in: home)
        #expect(finished.code == 0 && finished.output == output ?? finished.output, "\(finished)")
        // A check that finds nothing says why.
        #expect(finished.errors.isEmpty == !words.contains("verify"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.directory).isEmpty)
    }

    @Test(
        "A queue that must exist is reported as missing",
        arguments: [
            ["show", "1"], ["wait", "1"], ["collect", "k"], ["collect", "--id", "1"],
            ["audit", "list", "--after", "1"], ["audit", "export", "--after", "1"],
            ["watch", "--after", "1"], ["audit", "head"],
            ["audit", "verify", "--head", "1:" + String(repeating: "0", count: 64)],
        ])
    func missing(words: [String]) async throws {
        let home = try CommandLineQueue(mode: 0o777)
        let finished = try await run(words, in: home)
        #expect(finished.code == 66 && finished.output.isEmpty, "\(finished)")
        #expect(finished.errors.hasPrefix("alertq: "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.directory).isEmpty)
    }

    /// Variables that name no home directory.
    private static let homeless: [[String: String]] = [
        ["HOME": ""], ["HOME": "home"], ["HOME": "/"], ["HOME": "//"],
    ]

    @Test("An account without a home directory has no queue, least of all the system queue")
    func homeless() async throws {
        let files = try CommandLineQueue(mode: 0o777)
        for variables in Self.homeless.map({ $0.merging(["XDG_STATE_HOME": "state"]) { $1 } }) {
            for words in [["list"], ["ask", "Secret?", "--detach"], ["watch"], ["doctor"]] {
                let finished = try await Child(
                    "env",
                    ["-C", files.directory, "-u", "ALERTQ_DATABASE", CommandLineQueue.program]
                        + words,
                    environment: variables, as: Self.ana
                ).finish()
                #expect(finished.code == 66 && finished.output.isEmpty, "\(finished)")
                #expect(finished.errors.contains("--database"), "\(finished)")
                #expect(finished.errors.contains("--system"), "\(finished)")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: files.directory).isEmpty)
    }

    @Test("Where HOME names no directory, that of the account is taken, if it exists")
    func home() async throws {
        let home = try CommandLineQueue(mode: 0o777)
        // In a mount namespace of its own, so that the machine's accounts stay as they are.
        let script = """
            set -e
            echo "ana:x:60001:60001::$0:/bin/sh" >"$0/passwd"
            mount --bind "$0/passwd" /etc/passwd
            setpriv --reuid=60001 --regid=60001 --clear-groups "$@" notify Done
            unset HOME
            setpriv --reuid=60001 --regid=60001 --clear-groups "$@" list --count
            mount --bind /dev/null /etc/passwd
            """
        for variables in Self.homeless {
            let finished = try await Child(
                "unshare",
                ["-m", "sh", "-c", script, home.directory, "env", "-u", "XDG_STATE_HOME"]
                    + [CommandLineQueue.program], environment: variables
            ).finish()
            #expect(finished.code == 0, "\(finished)")
        }
        let queue = home.directory + "/.local/state/alertq/queue.db"
        let list = try Child(CommandLineQueue.program, ["list", "--count", "--database", queue])
        #expect(await list.exit() == 0)
        #expect(await list.output.complete() == "\(Self.homeless.count)\n")
    }

    @Test("watch waits for a missing queue, and prints everything that happens in it")
    func watch() async throws {
        let queue = try CommandLineQueue()
        let watch = try queue.start(["watch"])
        #expect(await eventually { watch.errors.text.contains("waiting for one") })
        #expect(!FileManager.default.fileExists(atPath: queue.path))
        #expect(try await queue.run("notify", "First").code == 0)
        #expect(await eventually { watch.output.text.contains("asked\tFirst") })
        watch.kill(SIGTERM)
        #expect(await watch.exit() == 128 + SIGTERM)
    }

    @Test("A missing system queue is reported with the command that creates it")
    func system() async throws {
        let script = #"mount -t tmpfs none /var/lib && exec "$@""#
        for (words, code) in [
            (["list"], Int32(0)), (["list", "--system"], 66), (["show", "1"], 66),
        ] {
            let child = try Child(
                "unshare", ["-m", "sh", "-c", script, "sh", CommandLineQueue.program] + words)
            let finished = await child.finish()
            #expect(finished.code == code && finished.output.isEmpty, "\(finished)")
            #expect(finished.errors.contains("alertq doctor --setup-system") == (code != 0))
        }
        let child = try Child(
            "unshare", ["-m", "sh", "-c", script, "sh", CommandLineQueue.program, "notify", "N"])
        let asked = await child.finish()
        #expect(asked.code == 74 && asked.errors.contains("alertq doctor --setup-system"))
    }

    @Test(
        "A queue that may be read but not written is refused on opening",
        arguments: [
            ["notify", "N"], ["ask", "Q?", "--key", "k", "--detach"], ["answer", "1", "OK"],
            ["snooze", "1"], ["withdraw", "1"], ["collect", "--id", "1"], ["wait", "1"],
            ["watch"], ["purge", "--older-than", "1d"],
            ["present", "--once", "--on", "command:true"],
        ])
    func notWritable(words: [String]) async throws {
        let queue = try CommandLineQueue(mode: 0o755)
        #expect(try await queue.run("ask", "Q?", "--detach").code == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: queue.directory) {
            chmod(queue.directory + "/" + name, 0o644)
        }
        let refused = try await queue.start(words, as: Self.ana).finish()
        #expect(refused.code == 77 && refused.output.isEmpty, "\(refused)")
        #expect(refused.errors.contains("not permitted: \(queue.path): this account may not write"))
        #expect(refused.errors.contains("(it belongs to root, with mode 0644; use that account, "))
        #expect(try await queue.run("list", "--count").output == "1\n")
    }

    @Test("A queue with an unwritable lock or directory is refused too, but can be read")
    func walFiles() async throws {
        let queue = try CommandLineQueue(mode: 0o777)
        #expect(try await queue.start(["notify", "N"], as: Self.ana).finish().code == 0)
        chmod(queue.path + "-lock", 0o444)
        let refused = try await queue.start(["notify", "N"], as: Self.ana).finish()
        #expect(refused.code == 77 && refused.errors.contains("queue.db-lock: this account"))
        #expect(try await queue.start(["list"], as: Self.ana).finish().code == 0)
        unlink(queue.path + "-lock")
        chmod(queue.directory, 0o755)
        let second = try await queue.start(["notify", "N"], as: Self.ana).finish()
        #expect(second.code == 77 && second.errors.contains("may not create files in it"))
    }
}
