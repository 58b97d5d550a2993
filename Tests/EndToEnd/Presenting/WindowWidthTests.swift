import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// Alerts in windows that are made narrower and wider, in programs that cut off their lines then,
/// and in others that wrap them again.
@Suite(
    "Windows of changing width", .inParallel,
    .enabled(if: DesktopSession.has("xterm", "screen", "tmux"), "needs xterm, screen and tmux"))
struct WindowWidthTests {
    private static let lines = (1...30).map { "Line \($0) of the person" }

    @Test("Nothing above an alert changes", arguments: EmulatedTerminal.Kind.allCases)
    private func nothingAbove(kind: EmulatedTerminal.Kind) async throws {
        let queue = try CommandLineQueue()
        let desktop = kind == .xterm ? try await DesktopSession() : nil
        let terminal = try EmulatedTerminal(
            kind, on: desktop,
            running: """
                seq -f 'Line %g of the person' \(Self.lines.count)
                exec \(CommandLineQueue.program) ask --database \(queue.path) \
                'Prune the old snapshots of the file server in the cellar?' \
                --message "$(seq -s ' ' 50)" --button Prune --cancel Keep --timeout 5m
                """)
        let wide = "Prune the old snapshots of the file server in the cellar?"
        try #require(await terminal.shows(wide))
        for _ in 1...2 {
            try terminal.resize(columns: 45)
            try #require(await terminal.shows("Prune the old snapshots of the file server in"))
            try terminal.resize(columns: 100)
            try #require(await terminal.shows(wide))
        }
        // Room for what has been scrolled off.
        try terminal.resize(columns: 100, rows: 60)
        let above = Self.lines + [wide]
        // For a moment, what is drawn anew is not there.
        let isDrawn = await eventually(each: .milliseconds(200)) {
            let shown = await terminal.lines()
            return Array(shown.prefix(above.count)) == above
                && [wide, "[ Prune ]  [ Keep ]"].allSatisfy { line in
                    shown.count { $0 == line } == 1
                }
        }
        let shown = await terminal.lines()
        #expect(isDrawn, "\(shown)")
        #expect(try await queue.run("answer", "1", "Keep").code == 0)
        #expect(await terminal.hasEnded())
    }
}

/// A program that shows what other programs write to a terminal, as a person sees it.
private final class EmulatedTerminal: Sendable {
    enum Kind: CaseIterable { case tmux, screen, xterm }

    private let kind: Kind
    private let folder: TemporaryDirectory
    private let outer: PseudoTerminal
    private let child: Child

    /// Runs a shell script in a window of 100 columns.
    init(_ kind: Kind, on desktop: DesktopSession?, running script: String) throws {
        self.kind = kind
        folder = try TemporaryDirectory()
        let inner = try folder.script("run", "tty >\(folder.path)/tty\n" + script)
        outer = try PseudoTerminal(columns: 100, rows: 30)
        let words: [String]
        switch kind {
        case .tmux:
            words = [
                "tmux", "-u", "-S", folder.path + "/tmux", "-f", "/dev/null", "new-session", inner,
                ";", "set", "status", "off",
            ]
        case .screen:
            let settings = "startup_message off\ndefscrollback 200\n"
            try settings.write(
                toFile: folder.path + "/settings", atomically: true, encoding: .utf8)
            chmod(folder.path, 0o700)
            words = ["screen", "-U", "-c", folder.path + "/settings", "-S", "test", inner]
        case .xterm:
            words = [
                "xterm", "-fa", "monospace", "-geometry", "100x30",
                "-xrm", "*allowWindowOps: true", "-xrm", "*printAttributes: 0",
                "-xrm", "*printerCommand: cat >\(folder.path)/print", "-e", inner,
            ]
        }
        let variables = ["TMUX": "", "SCREENDIR": folder.path, "LC_ALL": "C.UTF-8"]
        // A terminal multiplexer writes to the terminal through its standard output.
        child = try Child(
            "sh", ["-c", "exec \"$@\" >&2", "sh"] + words,
            environment: variables.merging(desktop?.environment ?? [:]) { $1 }, on: outer)
    }

    func resize(columns: Int, rows: Int = 30) throws {
        if kind == .xterm { return try write("\u{1B}[8;\(rows);\(columns)t") }
        outer.resize(columns: columns, rows: rows)
    }

    func shows(_ line: String) async -> Bool {
        await eventually(each: .milliseconds(200)) { await self.lines().contains(line) }
    }

    func hasEnded() async -> Bool { await child.exit() != nil }

    /// The lines of the window that are not empty, with those that were scrolled off, as far as
    /// the program tells.
    func lines() async -> [String] {
        let text =
            switch kind {
            case .tmux:
                try? await Child.run(
                    "tmux", "-S", folder.path + "/tmux", "capture-pane", "-p", "-S", "-"
                ).output
            case .screen: await printed { try await self.hardCopy(to: $0) }
            case .xterm:
                folder.lines("tty").isEmpty
                    ? nil : await printed { _ in try self.write("\u{1B}[?11i") }
            }
        return (text ?? "").split(separator: "\n").map {
            String($0).trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty }
    }

    private func hardCopy(to file: String) async throws {
        let screen = try Child(
            "screen", ["-S", "test", "-X", "hardcopy", file],
            environment: ["SCREENDIR": folder.path])
        _ = await screen.exit()
    }

    /// What a program writes to a file when it is told to.
    private func printed(_ tell: (String) async throws -> Void) async -> String? {
        let file = folder.path + "/print"
        unlink(file)
        try? await tell(file)
        var size = -1
        _ = await eventually(within: .seconds(2), each: .milliseconds(50)) {
            var status = stat()
            defer { size = Int(status.st_size) }
            return stat(file, &status) == 0 && status.st_size == size && size > 0
        }
        let bytes = FileManager.default.contents(atPath: file) ?? Data()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes to the window's terminal, as a program that runs in it does.
    private func write(_ text: String) throws {
        let device = try #require(folder.lines("tty").first)
        let window = try Descriptor(open(device, O_WRONLY | O_NOCTTY | O_CLOEXEC), "open a window")
        let bytes = Array(text.utf8)
        #expect(Glibc.write(window.raw, bytes, bytes.count) == bytes.count)
    }
}
