import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Hostile text", .inParallel)
struct HostileTextTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("Text that a terminal may obey is caught if it gets through")
    func negativeControl() {
        for (name, texts) in HostileText.kinds {
            for text in texts where text != "\t" && text != "\n" {
                let additions = TerminalBytes.additions(in: text.utf8, .text)
                #expect(additions != [], "\(name): \(text.debugDescription)")
            }
        }
        for bytes: [UInt8] in [[0x9B, 0x33], [0x1B], [0x1B, 0x63], [0xC0, 0x9B], [0x07]] {
            #expect(TerminalBytes.additions(in: bytes, .screen) != [])
        }
        #expect(TerminalBytes.additions(in: "\u{1B}]0;x\u{7}".utf8, .screen) != [])
        let harmless = "\u{1B}[?25l\u{1B}[2K\u{1B}[1;7mé 👩‍👩‍👧 한 ✓\u{1B}[0m\r\n"
        #expect(TerminalBytes.additions(in: harmless.utf8, .screen) == [])
    }

    /// A field that has a text wherever one can be.
    private func schema(_ piece: String) throws -> String {
        let list: [String: Any] = [
            "type": "string", "title": piece, "description": piece + "\n" + piece,
            "oneOf": [["const": "1", "title": piece], ["const": "2", "title": piece + "2"]],
            "default": "1",
        ]
        let text: [String: Any] = [
            "type": "string", "title": piece, "default": piece, "multiline": true,
        ]
        let schema: [String: Any] = ["type": "object", "properties": ["list": list, "text": text]]
        let data = try JSONSerialization.data(withJSONObject: schema)
        return String(decoding: data, as: UTF8.self)
    }

    /// Asks with every text that an alert has, and returns the alert's id.
    private func ask(_ piece: String, more: String = "") async throws -> String {
        let child = try queue.start([
            "ask", piece, "-m", piece + "\n" + piece + more, "-b", "yes=" + piece, "--destructive",
            "d=" + piece + "d", "--cancel", "no=" + piece + "n", "--source", piece, "--key", piece,
            "--info",
            "k" + piece + "=" + piece, "--timeout", "1h", "--default", "yes", "--detach",
            "--schema", try schema(piece),
        ])
        #expect(await child.exit() == 0)
        #expect(await child.errors.complete() == "")
        #expect(TerminalBytes.additions(in: child.errors.bytes, .text) == [])
        return await child.output.complete().trimmingCharacters(in: .newlines)
    }

    @Test(
        "No text of an alert reaches the terminal that shows it, nor does the answerer's name",
        arguments: ["xterm", "dumb"])
    func presented(term: String) async throws {
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(
            ["present"], on: terminal, environment: ["TERM": term])
        for (number, piece) in HostileText.pieces.enumerated() {
            let seen = terminal.bytes.count
            let id = try await ask(piece, more: number == 0 ? HostileText.highTower : "")
            let name = "piece\(number)"
            #expect(await terminal.shows(name, since: seen))
            let answer = try queue.start(["answer", id, "no"])
            #expect(await answer.exit() == 0)
            let isTold = await eventually {
                terminal.text(since: seen).contains("• \(name)")
            }
            #expect(isTold, "\(name)")
        }
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(TerminalBytes.additions(in: terminal.bytes, .screen) == [])
    }

    @Test("No text reaches a terminal or a pipe unescaped in tables, histories, logs and checks")
    func told() async throws {
        var ids: [String] = []
        for piece in HostileText.pieces { ids.append(try await ask(piece)) }
        for id in ids.dropLast(2) {
            _ = try await queue.run("answer", id, "no")
        }
        try await forge()
        let verbs =
            [["list"], ["history"], ["audit", "list"], ["audit", "verify"], ["doctor"]]
            + ids.map { ["show", $0] }
        for verb in verbs {
            let child = try queue.start(verb)
            _ = await child.exit()
            let output = await child.output.complete()
            #expect(!output.isEmpty || !child.errors.bytes.isEmpty)
            let bytes = child.output.bytes + child.errors.bytes
            #expect(TerminalBytes.additions(in: bytes, .text) == [], "\(verb)")
            let screen = try await screen(verb)
            #expect(!screen.isEmpty)
            // A check that takes long draws its progress over and over.
            let isDrawn = verb == ["audit", "verify"]
            let additions = TerminalBytes.additions(in: screen, .screen)
                .filter { !isDrawn || !$0.hasPrefix("ESC [K ") }
            #expect(additions == [], "\(verb)")
            let json = try queue.start(verb + ["--json"])
            _ = await json.exit()
            _ = await json.output.complete()
            #expect(TerminalBytes.additions(in: json.output.bytes, .json) == [], "\(verb)")
        }
    }

    /// Puts hostile texts, and bytes that are not UTF-8, wherever a person or a terminal is named.
    private func forge() async throws {
        let bytes = HostileText.pieces[2].utf8.map { $0 } + [0x9B, 0x33, 0x31, 0x6D, 0x90, 0xFF]
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let text = "CAST(X'\(hex)' AS TEXT)"
        let columns = ["user", "via", "tty", "ssh", "host"]
        let assignments = columns.map { "\($0) = \(text)" }.joined(separator: ", ")
        try await queue.forge(
            """
            UPDATE alerts SET responder_name = \(text), via = \(text), tty = \(text), ssh = \(text),
                responder_host = \(text) WHERE outcome IS NOT NULL;
            UPDATE audit SET \(assignments), detail = \(text); UPDATE alerts SET host = \(text);
            """)
        #expect(try await queue.rows("SELECT count(*) FROM alerts WHERE via = \(text)") != ["0"])
    }

    /// What a verb prints on a terminal.
    private func screen(_ verb: [String]) async throws -> [UInt8] {
        let terminal = try PseudoTerminal()
        let child = try Child(
            "sh", ["-c", "\"$0\" \"$@\" >/dev/tty 2>&1", CommandLineQueue.program] + verb,
            environment: ["ALERTQ_DATABASE": queue.path], on: terminal)
        let code = await child.exit()
        // The last output may still be on its way.
        let end = "end \(code ?? -1)"
        try terminal.type(end + "\n")
        _ = await terminal.shows(end)
        return terminal.bytes
    }
}
