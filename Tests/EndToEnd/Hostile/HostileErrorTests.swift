import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Hostile errors", .inParallel)
struct HostileErrorTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("No word of a command line reaches stderr unescaped", arguments: HostileText.pieces)
    func mistakes(piece: String) async throws {
        _ = try await queue.run("ask", "T", "-b", "yes", "--cancel", "no", "--key", "k", "--detach")
        _ = try await queue.run("withdraw", "1")
        // Longer than any text that an alert may have.
        let long = String(repeating: piece, count: 1 + 1600 / piece.utf8.count)
        let lines = [
            [piece], ["--" + piece], ["audit", piece], ["help", piece], ["answer", piece, "x"],
            ["answer", "1", piece], ["snooze", "1", "--for", piece], ["show", piece],
            ["ask", "T", "--priority", piece], ["ask", "T", "--timeout", piece],
            ["ask", "T", "--" + piece], ["ask", "T", "-b", "a" + long], ["ask", long],
            ["ask", "T", "--info", piece.replacing("=", with: "")], ["ask", "T", "--source", long],
            ["ask", "T", "-b", "=" + piece, "-b", "=" + piece], ["ask", piece, "--key", "k"],
            ["ask", "T", "--default", piece, "--timeout", "1h", "-b", "a"],
            ["history", "--since", piece], ["history", "--outcome", piece],
            ["history", "--after", piece], ["list", "--limit", piece], ["list", piece],
            ["list", "--database", "/tmp/none/" + piece], ["audit", "verify", "--head", piece],
            ["notify", "T", "--dismiss-after", piece],
        ]
        for line in lines {
            let child = try queue.start(line)
            let finished = await child.finish()
            // A command that waits for an answer has no code, and made no error.
            let code = try #require(finished.code, "\(line)")
            #expect(code != 0 && !finished.errors.isEmpty, "\(line)")
            #expect(
                TerminalBytes.additions(in: child.errors.bytes, .text) == [], "\(line.first ?? "")")
            #expect(child.output.bytes.isEmpty, "\(line)")
        }
    }

    @Test("An ask that waits prints its buttons harmlessly", arguments: HostileText.pieces)
    func waiting(piece: String) async throws {
        let id = HostileText.id(piece)
        let child = try queue.start(["ask", "T", "-b", "=" + id, "--wait-for", "10ms"])
        let finished = await child.finish()
        #expect(finished.code == 15)
        #expect(finished.errors.contains("waiting for an answer to alert 1 (piece"))
        #expect(TerminalBytes.additions(in: child.errors.bytes, .text) == [])
    }

    @Test("A path with hostile names is printed harmlessly, and its queue works")
    func path() async throws {
        let directory = queue.directory + "/a\u{1B}[31m\u{9B}7m\u{202E}\n\u{7}b"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        let path = directory + "/q.db"
        for line in [["ask", "T", "--wait-for", "10ms", "-b", "yes"], ["doctor"], ["list"]] {
            let child = try queue.start(line + ["--database", path])
            _ = await child.exit()
            _ = await child.output.complete()
            _ = await child.errors.complete()
            let bytes = child.output.bytes + child.errors.bytes
            #expect(!bytes.isEmpty)
            #expect(TerminalBytes.additions(in: bytes, .text) == [], "\(line)")
        }
    }

    @Test("What the slot's holder writes about itself is shown harmlessly to waiting askers")
    func slot() async throws {
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal)
        _ = try await queue.run("ask", "First", "-b", "yes", "--detach")
        #expect(await terminal.shows("First"))
        let piece = "name\u{1B}[31m\u{9B}7m\u{202E}\u{200B}\u{7}\u{E0041}"
        // It would write its own text again within a second.
        try await queue.stopWithoutLock(presenter)
        try writeSlot(piece, pid: presenter.pid)
        let other = try PseudoTerminal()
        let asker = try queue.start(["ask", piece, "-m", piece, "-b", "yes=" + piece], on: other)
        #expect(await other.shows("shown by name"))
        let doctor = try await queue.run("doctor")
        #expect(doctor.output.contains("shown by name"))
        #expect(TerminalBytes.additions(in: doctor.output.utf8, .text) == [])
        // Enter shows the alert as text.
        try other.type("\n")
        #expect(await other.shows(", or Enter to leave it waiting: "))
        try await other.press("1\n")
        #expect(await asker.exit() == 0)
        #expect(await asker.output.complete() == "yes\n")
        #expect(TerminalBytes.additions(in: other.bytes, .screen) == [])
        presenter.kill(SIGKILL)
        _ = await presenter.exit()
    }

    @Test("On a terminal the chosen button's id is printed harmlessly")
    func result() async throws {
        let piece = "id\u{202E}"
        let command = [
            "ask", "T", "-b", "=" + piece, "--key", "k", "--wait-for", "20s",
        ]
        _ = try await queue.run("ask", "T", "-b", "=" + piece, "--key", "k", "--detach")
        _ = try await queue.run("answer", "1", piece)
        let terminal = try PseudoTerminal()
        let child = try Child(
            "sh", ["-c", "\"$0\" \"$@\" >/dev/tty", CommandLineQueue.program] + command,
            environment: ["ALERTQ_DATABASE": queue.path], on: terminal)
        #expect(await child.exit() == 0)
        #expect(await terminal.shows("id⟨U+202E⟩"))
        #expect(TerminalBytes.additions(in: terminal.bytes, .screen) == [])
    }

    private func writeSlot(_ text: String, pid: pid_t) throws {
        let holder: [String: Any] = [
            "alert": 1, "current": 1, "principal": "0", "user": text, "tty": text, "host": text,
            "pid": Int(pid), "presenters": [text], "hasDelegate": false,
        ]
        var bytes = try JSONSerialization.data(withJSONObject: holder)
        // No heartbeat, and the first generation of the lead.
        bytes.append(Data("\n\n1\n".utf8))
        bytes.append(Data(count: 1024 - bytes.count))
        let file = try FileHandle(forUpdating: URL(filePath: queue.path + "-slot"))
        try file.write(contentsOf: bytes)
        try file.close()
    }
}
