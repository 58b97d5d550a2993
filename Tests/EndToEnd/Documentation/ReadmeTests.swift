import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The README and the articles say what is true: the recorded run and the tables are tested here.
@Suite("README", .inParallel)
struct ReadmeTests {
    let text: String

    init() throws {
        text = try CodeBlock.text(of: "README.md")
    }

    @Test("The recorded run gives the printed output")
    func recordedRun() async throws {
        let block = try #require(text.firstMatch(of: /(?s)```console\n(.*?)```/)).1
        let commands = block.split(separator: "\n").filter { $0.hasPrefix("$ ") }
        #expect(commands.count >= 7)
        let queue = try CommandLineQueue()
        let bin = queue.directory + "/bin"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: bin + "/alertq", withDestinationPath: CommandLineQueue.program)
        // One shell at a terminal runs it all, and prints each command before its output.
        var script = "set +m\n"
        for command in commands {
            let line = String(command.dropFirst(2))
            script += "printf '%s\\n' \(Self.quoted("$ " + line))\n"
            script += line + "\n"
            if line.hasSuffix("&") {
                script += "until grep -q waiting \(queue.directory)/log; do sleep 0.01; done\n"
            } else if line.hasPrefix("kill") {
                script += "wait %1 2>/dev/null\n"
            }
        }
        let terminal = try PseudoTerminal()
        let shell = try Child(
            "bash", ["-c", "exec >\(queue.directory)/log 2>&1\n" + script],
            environment: [
                "HOME": queue.directory,
                "PATH": bin + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? ""),
            ], on: terminal)
        #expect(await shell.exit() != nil, "\(terminal.text)")
        let log = try String(contentsOfFile: queue.directory + "/log", encoding: .utf8)
        let (actual, printed) = (normalised(log, queue), normalised(String(block), queue))
        #expect(actual == printed, "\(actual)")
    }

    /// The parts that differ between runs: times, the person, and the queue's path.
    private func normalised(_ log: String, _ queue: CommandLineQueue) -> String {
        log.replacing(/[0-9]{4}-[0-9-]+T[0-9:.]+Z/, with: "TIME")
            .replacing(/person \([^)]*\)/, with: "person (WHO)")
            .replacing(/\talertq\t[^\t\n]+/, with: "\talertq\tWHO")
            .replacing(/--database \S+/, with: "--database PATH")
            .split(separator: "\n").filter { !$0.contains("Killed") }.joined(separator: "\n")
    }

    @Test("The table of verbs has exactly the verbs of the help")
    func verbs() async throws {
        let queue = try CommandLineQueue()
        let head = /(?s)\| verb \| does \|\n\|---\|---\|\n(.*?)\n\n/
        let command = try CodeBlock.text(of: CodeBlock.articles + "Command.md")
        let table = try #require(command.firstMatch(of: head)).1
        let named = Set(
            table.split(separator: "\n").flatMap { line in
                (line.split(separator: "|").first ?? "").matches(of: /`([a-z]+)/)
                    .map { String($0.1) }
            })
        let help = try await queue.run("--help").output
        let listed = Set(help.matches(of: /(?m)^  ([a-z]+)/).map { String($0.1) })
        #expect(named == listed)
        for verb in named { #expect(try await queue.run(verb, "--help").code == 0, "\(verb)") }
    }

    @Test("Every link to a file of the project leads to one")
    func links() throws {
        let links = text.matches(of: /\]\(([^)]+)\)/).map { String($0.1) }
            .filter { !$0.contains("://") && !$0.hasPrefix("#") }
        #expect(links.count >= 8)
        for link in links {
            let file = CodeBlock.root.appending(path: link).path
            #expect(FileManager.default.fileExists(atPath: file), "\(link)")
        }
    }

    @Test("The JSON example has the keys of real output, in their order")
    func json() async throws {
        let formats = try CodeBlock.text(of: CodeBlock.articles + "Formats.md")
        let example = try #require(formats.firstMatch(of: /(?s)```json\n(.*?)\n```/)).1
        let queue = try CommandLineQueue()
        _ = try await queue.run("ask", "Prune?", "--detach")
        _ = try await queue.run("answer", "1", "OK")
        let real = try await queue.run("show", "1", "--json").output
        let keys = { (text: String) in text.matches(of: /"([a-z_]+)":/).map { String($0.1) } }
        let buttonKeys: Set<String> = ["id", "title", "role", "host"]
        let isOuter = { (key: String) in !buttonKeys.contains(key) }
        #expect(keys(String(example)).filter(isOuter) == keys(real).filter(isOuter))
        // The table explains keys of the example.
        let explained = formats.matches(of: /(?m)^\| (`[a-z_`, ]+`) \|/).flatMap {
            $0.1.matches(of: /[a-z_]+/).map { String($0.0) }
        }.filter { $0 != "pending" && $0 != "history" }
        #expect(explained.count >= 10 && Set(explained).isSubset(of: keys(String(example))))
    }

    @Test("The SQL views have the columns of the table")
    func views() async throws {
        let queue = try CommandLineQueue()
        _ = try await queue.run("notify", "Done")
        let text = try CodeBlock.text(of: CodeBlock.articles + "Formats.md")
        for view in ["pending", "history"] {
            let start = try #require(text.firstRange(of: "| `\(view)` | id,")).upperBound
            let columns = "id," + text[start...].prefix { $0 != "|" }.dropLast()
            let child = try Child(
                "sqlite3",
                [queue.path, "SELECT group_concat(name, ', ') FROM pragma_table_info('\(view)')"])
            _ = await child.exit()
            let real = await child.output.complete()
            #expect(real == columns + "\n", "\(real)")
        }
    }

    @Test("The right column of the UIAlertView table is compiled")
    func table() throws {
        let article = try CodeBlock.text(of: CodeBlock.articles + "UIAlertView.md")
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count >= 15)
        let compiled = try String(
            contentsOf: CodeBlock.root.appending(
                path: "Tests/AlertQueueTests/Manager/UIAlertViewTableTests.swift"),
            encoding: .utf8
        ).replacing(/\s+/, with: " ").replacing("( ", with: "(")
        for row in rows {
            let right = try #require(row.split(separator: " | ").last)
            for snippet in right.matches(of: /`([^`]+)`/) {
                #expect(compiled.contains(snippet.1), "\(snippet.1) is not compiled")
            }
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
