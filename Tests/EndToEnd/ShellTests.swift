import Foundation
import ProcessTesting
import TestSupport
import Testing

/// What a person sees after pressing Tab, in each shell, at a real terminal.
@Suite("Completion in a shell", .inParallel)
struct ShellTests {
    enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish

        /// How it starts with nothing but the script that `alertq completions` prints.
        func start(_ script: String, in home: String) throws -> [String] {
            switch self {
            case .bash:
                try write("PS1='ready> '\n" + script, home + "/bashrc")
                return ["bash", "--noprofile", "--rcfile", home + "/bashrc"]
            case .zsh:
                let setUp = "PS1='ready> '\nautoload -Uz compinit\ncompinit -u -D\n"
                try write(setUp + script, home + "/.zshrc")
                return ["zsh"]
            case .fish:
                let directory = home + "/.config/fish"
                try FileManager.default.createDirectory(
                    atPath: directory + "/completions", withIntermediateDirectories: true)
                try write(script, directory + "/completions/alertq.fish")
                try write("function fish_prompt; echo 'ready> '; end", directory + "/config.fish")
                return ["fish", "--private"]
            }
        }

        private func write(_ text: String, _ path: String) throws {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    @Test(
        "Tab completes what has been typed, and the completed line can be run",
        arguments: Shell.allCases)
    func tab(shell: Shell) async throws {
        let queue = try CommandLineQueue()
        _ = try await queue.run(
            "ask", "Prune?", "-b", "yes=Prune", "-b", "Ja, bitte", "--cancel", "no=Keep",
            "--key", "prune:1", "--detach")
        _ = try await queue.run(
            "ask", "Rename?", "-b", "yes", "--field", "name", "--schema",
            #"{"properties":{"keep":{"type":"boolean"}}}"#, "--cancel", "no", "--detach")
        let bin = queue.directory + "/bin"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: bin + "/alertq", withDestinationPath: CommandLineQueue.program)
        try FileManager.default.createDirectory(
            atPath: queue.directory + "/back ups", withIntermediateDirectories: true)
        for name in ["copy.db", "back ups/old.db"] {
            try Data().write(to: URL(filePath: queue.directory + "/" + name))
        }
        let script = try await queue.run("completions", shell.rawValue).output
        let words = try shell.start(script, in: queue.directory)
        let terminal = try PseudoTerminal(columns: 120)
        // A shell expects its terminal on the standard output, too.
        let process = try Child(
            "sh", ["-c", "cd && exec \"$@\" >&0", "sh"] + words,
            environment: [
                "ALERTQ_DATABASE": queue.path, "HOME": queue.directory, "TERM": "xterm",
                "XDG_CONFIG_HOME": queue.directory + "/.config", "LC_ALL": "C.UTF-8",
                "PATH": bin + ":/usr/local/bin:/usr/bin:/bin",
            ], on: terminal)
        defer { process.kill(SIGKILL) }
        #expect(await terminal.shows("ready> "))
        for (typed, completed) in [
            ("alertq ans\t", "answer"),
            ("alertq ask --priority=cr\t", "--priority=critical"),
            ("alertq ask --key pr\t", "prune:1"),
            ("alertq audit v\t", "verify"),
            ("alertq answer 2 yes --set na\tx", "name=x"),
            ("alertq answer 2 yes --set keep=y\t", "keep=yes"),
            ("alertq answer 2 yes --set=keep=y\t", "--set=keep=yes"),
            ("alertq restore ~/cop\t", "~/copy.db"),
            ("alertq restore \"back ups/o\t", "back ups/old.db"),
            ("alertq list --database ~/cop\t", "~/copy.db"),
            ("alertq list --database=~/cop\t", "--database=~/copy.db"),
            ("alertq present --on com\t:", "command::"),
            ("alertq present --on command:xarg\t", "command:xargs"),
            ("alertq ask --on=command:xarg\t", "command:xargs"),
            ("alertq ask --on \"command:xarg\t", "command:xargs"),
        ] {
            let start = terminal.bytes.count
            try terminal.type(typed)
            #expect(await terminal.shows(completed, since: start), "\(shell): \(typed)")
            try terminal.type("\u{15}")
        }
        // The line that Tab makes is run: the button has a comma and a space.
        let start = terminal.bytes.count
        try terminal.type("alertq answer 1 J\t")
        #expect(await terminal.shows("bitte", since: start))
        try terminal.type("\n")
        let row = "SELECT button FROM history"
        #expect(
            await eventually { (try? await queue.rows(row)) == ["Ja, bitte"] },
            "\(shell): \(String(decoding: terminal.bytes[start...], as: UTF8.self))")
    }

    @Test(
        "No part of an id is run by the shell that completes it",
        arguments: ["", "\"", "'"])
    func hostileID(quote: String) async throws {
        let queue = try CommandLineQueue()
        let mark = queue.directory + "/ran"
        for id in ["Go $(touch \(mark))", "Go'$(touch \(mark))'", "Go\"$(touch \(mark))\""] {
            _ = try await queue.run("ask", "Q", "-b", id, "--cancel", "No", "--detach")
        }
        let script = try await queue.run("completions", "bash").output
        let words = try Shell.bash.start(script, in: queue.directory)
        let terminal = try PseudoTerminal(columns: 200)
        let bin = URL(filePath: CommandLineQueue.program).deletingLastPathComponent().path
        let process = try Child(
            "sh", ["-c", "exec \"$@\" >&0", "sh"] + words,
            environment: [
                "ALERTQ_DATABASE": queue.path, "HOME": queue.directory, "TERM": "xterm",
                "PATH": bin + ":/usr/local/bin:/usr/bin:/bin",
            ], on: terminal)
        defer { process.kill(SIGKILL) }
        #expect(await terminal.shows("ready> "))
        try terminal.type("alertq() { \(CommandLineQueue.program) \"$@\"; }\n")
        for id in 1...3 {
            try terminal.type("alertq answer \(id) \(quote)Go\t\(quote)\n")
        }
        let start = terminal.bytes.count
        try terminal.type("echo finished-$((1 + 1))\n")
        #expect(await terminal.shows("finished-2", since: start))
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test("The manual page is formatted without a warning")
    func manual() async throws {
        let queue = try CommandLineQueue()
        let page = queue.directory + "/alertq.1"
        try await queue.run("manual").output.write(
            toFile: page, atomically: true, encoding: .utf8)
        let formatted = try await Child(
            "man", ["--warnings=w", "-l", page],
            environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "80"]
        ).finish()
        #expect(formatted.code == 0 && formatted.errors.isEmpty, "\(formatted.errors)")
        #expect(formatted.output.contains("alertq history [OPTIONS]"))
        #expect(formatted.output.contains("A longer text; “-” reads it from stdin."))
        let lint = try await Child("mandoc", ["-T", "lint", "-W", "warning", page]).finish()
        #expect(lint.code == 0, "\(lint.output)\(lint.errors)")
    }
}
