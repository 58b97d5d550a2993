import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Bad input", .inParallel)
struct BadInputTests {
    /// What is typed, the exit code, and what the error has to name.
    struct Mistake: CustomTestStringConvertible, Sendable {
        let words: [String]
        let code: Int32
        let says: String
        var testDescription: String { says }

        init(_ words: [String], _ code: Int32, _ says: String) {
            self.words = words
            self.code = code
            self.says = says
        }
    }

    static let mistakes = [
        Mistake(["ask", ""], 65, "title is empty"),
        Mistake(["ask", " \t"], 65, "title is blank"),
        Mistake(["ask", String(repeating: "é", count: 513)], 65, "title has 1026 bytes"),
        Mistake(
            ["ask", "Q", "-m", String(repeating: "x", count: 65_537)], 65, "message has 65537"),
        Mistake(["ask", "Q", "-b", ""], 65, "label of a button is empty"),
        Mistake(
            ["ask", "Q", "-b", String(repeating: "x", count: 257)], 65, "button has 257 bytes"),
        Mistake(
            ["ask", "Q", "--any"] + (0..<17).flatMap { ["-b", "b\($0)"] }, 65, "17 buttons"),
        Mistake(["ask", "Q", "-b", "a=A", "--cancel", "a=B"], 65, "two buttons with the id “a”"),
        Mistake(
            ["ask", "Q", "-b", "no=Yes", "--cancel", "yes=no"], 65,
            "the id “no”, which is the label of another one, “yes”"),
        Mistake(
            ["ask", "Q", "-b", "report.txt\nname\tforged"], 65,
            "the id of a button contains U+000A, a control character"),
        Mistake(["ask", "Q", "-b", "Yes", "-b", "No"], 64, "--cancel"),
        Mistake(
            ["ask", "Q", "--default", "maybe", "--timeout", "1m"], 65, "maybe"),
        Mistake(["ask", "Q", "--default", "OK"], 64, "--timeout"),
        Mistake(["ask", "Q", "--timeout", "-5s"], 64, "-5s"),
        Mistake(["ask", "Q", "--timeout", "0"], 64, "0"),
        Mistake(["ask", "Q", "--timeout", "soon"], 64, "soon"),
        Mistake(["ask", "Q", "--timeout", "999999999999d"], 64, "999999999999d"),
        Mistake(["notify", "Q", "--dismiss-after", "-1s"], 64, "-1s"),
        Mistake(["ask", "Q", "--priority", "urgent"], 64, "urgent"),
        Mistake(["ask", "Q", "--info", "novalue"], 64, "novalue"),
        Mistake(
            ["ask", "Q", "--info", "k=" + String(repeating: "x", count: 16_384)], 65, "info "),
        Mistake(["ask", "Q", "--mesage", "x"], 64, "--message"),
        Mistake(["ask", "Q", "--detach", "--wait-for", "1s"], 64, "--wait-for"),
        Mistake(["ask"], 64, "TITLE"),
        Mistake(["ask", "-title"], 64, "--"),
        Mistake(["answre", "1", "yes"], 64, "answer"),
        Mistake(["answer", "1"], 64, "BUTTON"),
        Mistake(["answer", "99", "yes"], 66, "no alert 99"),
        Mistake(["answer", "x", "yes"], 64, "x"),
        Mistake(["answer", "yes"], 64, "ID"), Mistake(["answer", "1", "1", "yes"], 64, "twice"),
        Mistake(["answer", "1", "2", "yes", "--seen", "00"], 64, "--seen"),
        Mistake(["answer", "1", "yes", "--key", "k"], 64, "can't be combined"),
        Mistake(["show"], 64, "ID, or --key KEY"), Mistake(["withdraw", "1", "x"], 64, "x"),
        Mistake(["snooze", "1", "--source", "s"], 64, "--source"),
        Mistake(["answer", "1", "maybe"], 66, "it has: yes, no"),
        Mistake(["answer", "2", "yes"], 16, "already"),
        Mistake(["snooze", "2"], 16, "already"), Mistake(["claim", "2"], 16, "already"),
        Mistake(["claim", "1", "--for", "1h", "--release"], 64, "can't be combined"),
        Mistake(["withdraw", "2"], 16, "already"),
        Mistake(["ask", "Other?", "--key", "k", "--detach"], 16, "has another title"),
        Mistake(["history", "--outcome", "yes"], 64, "yes"),
        Mistake(["history", "--since", "whenever"], 64, "whenever"),
        Mistake(["audit", "verify", "--head", "zzz"], 64, "zzz"),
    ]

    @Test(
        "A mistake gets its exit code and a sentence that names it, and stores nothing",
        arguments: mistakes)
    func mistake(_ mistake: Mistake) async throws {
        let queue = try CommandLineQueue()
        let buttons = ["-b", "yes=Yes", "--cancel", "no=No", "--detach"]
        for question in [["Waits?", "--key", "k"], ["Answered?"]] {
            #expect(await (try queue.start(["ask"] + question + buttons)).exit() == 0)
        }
        #expect(try await queue.run("answer", "2", "no").code == 0)
        let before = try await queue.run("audit", "head").output
        let child = try queue.start(mistake.words)
        #expect(await child.exit() == mistake.code)
        #expect(await child.output.complete().isEmpty)
        let errors = await child.errors.complete()
        #expect(errors.contains(mistake.says), "\(errors)")
        #expect(try await queue.run("audit", "head").output == before)
    }

    @Test("--id answers an older alert in which an id is another button's label")
    func answerByID() async throws {
        let queue = try CommandLineQueue()
        let asked = try await queue.run(
            "ask", "Old?", "-b", "a=Yes", "--cancel", "b=No", "--detach")
        #expect(asked.code == 0)
        let wrong = try await queue.run("answer", "--id", "1", "Yes")
        #expect(wrong.code == 66 && wrong.errors.contains("it has: a, b"), "\(wrong)")
        #expect(try await queue.run("answer", "--id", "1", "b").code == 0)
        let answered = try #require(try await queue.objects("history").first)
        #expect(answered["button"] as? String == "b")
    }

    @Test("A command that names a path with a line break can be pasted as it was printed")
    func pastedPath() async throws {
        let queue = try CommandLineQueue()
        let directory = queue.directory + "/line\nbreak"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false)
        let path = directory + "/queue.db"
        let asker = try queue.start(
            ["ask", "Paste?", "-b", "yes", "--cancel", "no", "--database", path])
        #expect(await eventually { asker.errors.text.contains("--database") })
        let words = try #require(asker.errors.text.split(separator: "answer with: alertq ").last)
        let pasted = try Child("bash", ["-c", "exec \(CommandLineQueue.program) \(words)"])
        #expect(await pasted.exit() == 0)
        #expect(await asker.exit() == 0)
    }

    @Test(
        "A printed command does only what it says, whatever an id contains",
        arguments: ["a'\u{301};touch \"$PASTED\";'\u{301}", "-x"])
    func pastedID(id: String) async throws {
        let queue = try CommandLineQueue()
        let asker = try queue.start([
            "ask", "Paste?", "-b", id, "--schema",
            #"{"properties":{"n":{"type":"string"}},"required":["n"]}"#,
        ])
        #expect(await eventually { asker.errors.text.contains("--set n=…") })
        let words = try #require(asker.errors.text.split(separator: "answer with: alertq ").last)
        let pasted = try Child(
            "bash", ["-c", "exec \(CommandLineQueue.program) \(words)"],
            environment: ["PASTED": queue.directory + "/pasted", "ALERTQ_DATABASE": queue.path])
        #expect(await pasted.exit() == 0, "\(pasted.errors.text)")
        #expect(await asker.exit() == 0)
        #expect(!FileManager.default.fileExists(atPath: queue.directory + "/pasted"))
    }

    @Test("A long variable of the environment is cut by its bytes")
    func longEnvironment() async throws {
        let queue = try CommandLineQueue()
        // One letter with as many marks as fit, and no space.
        let address = "a" + String(repeating: "\u{301}", count: 30_000)
        let asked = try queue.start(["ask", "Q", "-b", "yes", "--cancel", "no", "--detach"])
        #expect(await asked.exit() == 0)
        let child = try Child(
            CommandLineQueue.program, ["answer", "1", "yes"],
            environment: ["ALERTQ_DATABASE": queue.path, "SSH_CONNECTION": address + " 1 b 2"])
        #expect(await child.exit() == 0)
        let ssh = try await queue.rows("SELECT length(CAST(ssh AS BLOB)) FROM alerts")
        #expect(ssh.first.flatMap { Int($0) } ?? 0 <= 256, "\(ssh)")
    }

    @Test("An argument that is not UTF-8 is refused with its position")
    func invalidText() async throws {
        let queue = try CommandLineQueue()
        let script = "exec \(CommandLineQueue.program) ask \"$(printf 'a\\377b')\" --detach"
        let child = try Child("sh", ["-c", script], environment: ["ALERTQ_DATABASE": queue.path])
        #expect(await child.exit() == 65)
        #expect(await child.errors.complete().contains("UTF-8"))
    }
    private static let withoutProc = [
        "unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh",
    ]

    @Test(
        "Arguments arrive without /proc, and under a preloaded library that keeps it from being read",
        arguments: [
            withoutProc,
            [
                "sh", "-c",
                "LD_PRELOAD=$(echo /usr/lib/*/faketime/libfaketime.so.1) exec \"$@\"", "sh",
            ],
        ])
    func noProc(wrapper: [String]) async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("notify", "First").code == 0)
        let notified = try await queue.start(["notify", "Second"], under: wrapper).finish()
        #expect(notified.code == 0 && notified.errors.isEmpty, "\(notified)")
        #expect(try await queue.objects("show", "2").first?["title"] as? String == "Second")
    }

    @Test("A verb that needs threads says that they need /proc, and does not crash")
    func threadsWithoutProc() async throws {
        let queue = try CommandLineQueue()
        #expect(try await queue.run("notify", "Done").code == 0)
        let listed = try await queue.start(["list"], under: Self.withoutProc).finish()
        #expect(listed.code == 74 && listed.errors.contains("need /proc"), "\(listed)")
    }
}
