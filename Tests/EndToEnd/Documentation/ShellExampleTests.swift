import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Every shell example of the README and of the articles is run, line by line, as a person would at
/// a terminal.
///
/// `alertq` is the built command. Programs that would install, build or delete something are stubs
/// that record their calls. An `ask` or `hook` that waits is answered with its first button by
/// another process; a verb that runs until it is stopped is stopped with Ctrl-C. A line has to exit
/// with 0, or with the code in its comment: `# exits with 15 …`.
@Suite("Shell examples", .inParallel)
struct ShellExampleTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Commands that are not part of this package.
    private static let stubs = ["apt-get", "claude", "codex", "prune", "swift"]

    /// The documents that have such examples.
    private static let documents =
        (["README.md"] + ((try? CodeBlock.files(in: "Sources", ".md")) ?? [])).filter { file in
            (try? CodeBlock.all("sh", in: file))?.isEmpty == false
        }

    @Test("Every line of every shell example does what it says", arguments: documents)
    func examples(of document: String) async throws {
        try prepare()
        #expect(try await queue.run("notify", "An older notice").code == 0)
        for block in try CodeBlock.all("sh", in: document) {
            let lines = block.text.split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix("#") }
            try await makeRoom(for: lines)
            for line in lines {
                let finished = try await run(line)
                #expect(finished.code == Self.code(of: line), "\(line)\n\(finished.errors)")
            }
        }
        #expect(try await queue.isSound())
    }

    @Test("The README and several articles have shell examples, and each stub is used")
    func examplesExist() throws {
        #expect(Self.documents.count >= 5)
        let examples = try Self.documents.flatMap { try CodeBlock.all("sh", in: $0) }
        let all = examples.map(\.text).joined()
        for stub in Self.stubs { #expect(all.contains(stub), "no example runs \(stub)") }
    }

    @Test("A line that fails is reported", arguments: ["alertq lsit", "prnue", "alertq show 1"])
    func negativeControl(line: String) async throws {
        try prepare()
        #expect(try await run(line).code != Self.code(of: line))
    }

    private static func code(of line: String) -> Int32 {
        if let said = line.firstMatch(of: /# exits with ([0-9]+)/) { return Int32(said.1) ?? 0 }
        return isEndless(line) ? 128 + SIGINT : 0
    }

    private static func isEndless(_ line: String) -> Bool {
        line.contains(/^alertq (present|watch)\b(?!.*--(once|uninstall))/)
    }

    /// A home with the built command, and stubs for what this package does not have.
    private func prepare() throws {
        let files = FileManager.default
        let home = queue.directory
        for folder in ["bin", ".build/release", ".ci"] {
            try files.createDirectory(
                atPath: home + "/" + folder, withIntermediateDirectories: true)
        }
        for directory in ["bin", ".build/release"] {
            try files.createSymbolicLink(
                atPath: home + "/\(directory)/alertq", withDestinationPath: CommandLineQueue.program
            )
        }
        let checks = try files.contentsOfDirectory(
            atPath: CodeBlock.root.appending(path: ".ci").path)
        let programs = ["answered", "send-to-phone"] + Self.stubs.map { "bin/" + $0 }
        for stub in programs + checks.map({ ".ci/" + $0 }) {
            try "#!/bin/sh\necho \"${0##*/} $*\" >>\"$HOME/called\"\n".write(
                toFile: home + "/" + stub, atomically: true, encoding: .utf8)
            chmod(home + "/" + stub, 0o755)
        }
    }

    /// Asks other alerts first, so that the alert that a block answers by its id gets that id.
    private func makeRoom(for lines: [String]) async throws {
        guard let answer = lines.firstIndex(where: { $0.contains(/alertq answer [0-9]/) }),
            let id = lines[answer].firstMatch(of: /answer ([0-9]+)/).flatMap({ Int($0.1) })
        else { return }
        let asked = lines[..<answer].count { $0.contains(/alertq (ask|notify|run)\b/) }
        let waiting = try await queue.objects("list", "--limit", "1000").count
        let known = try await waiting + queue.objects("history", "--limit", "1000").count
        for _ in 0..<(id - asked - known) { _ = try await queue.run("notify", "An older notice") }
    }

    private func run(_ line: String) async throws -> Finished {
        let terminal = try PseudoTerminal(columns: 100)
        let script = line.replacing("$(mktemp -d)/try.db", with: queue.path)
        let shell = try Child(
            "dash", ["-c", "cd && " + script],
            environment: [
                "HOME": queue.directory, "ALERTQ_DATABASE": queue.path,
                "PATH": "\(queue.directory)/bin:\(CodeBlock.path)",
            ], on: terminal)
        if Self.isEndless(line) {
            let sign = line.contains("watch") ? "Ctrl-C stops" : "An older notice"
            #expect(await terminal.shows(sign), "\(terminal.text)")
            // A key that comes while an alert is being drawn is discarded.
            _ = try await eventually {
                try terminal.type("\u{3}")
                try await Task.sleep(for: .milliseconds(100))
                return shell.poll() != nil
            }
        } else if line.contains(/alertq (ask|run|hook)\b(?!.*--(detach|timeout))/) {
            try await answer(while: shell)
        }
        let code = await shell.exit()
        if code == nil { shell.kill(SIGKILL) }
        return Finished(
            code: code, output: await shell.output.complete(), errors: terminal.text)
    }

    /// Answers the alert that waits for an answer, with its first button.
    private func answer(while shell: Child) async throws {
        let queue = queue
        _ = try await eventually {
            guard shell.poll() == nil else { return true }
            for alert in try await queue.objects("list") {
                guard let buttons = alert["buttons"] as? [[String: any Sendable]],
                    let button = buttons.first?["id"] as? String, let id = alert["id"] as? Int
                else { continue }
                _ = try await queue.run("answer", "\(id)", button)
            }
            return false
        }
    }
}
