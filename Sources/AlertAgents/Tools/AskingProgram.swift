import AlertQueue
import Glibc
import Linux

/// The program that has started this process, by the name that tells it from others.
///
/// Most agents say who they are. Those that leave that to the library they are built with all have
/// its name, and would find each other's questions.
enum AskingProgram {
    /// What libraries call every program that doesn't give itself a name.
    ///
    /// Seen in the Python SDK 1.2.0 and 2.3.0, and with it FastMCP 4.1.6; in the Rust SDK, whose
    /// default is its own crate; in the Java SDK 1.0.0; in chuk-mcp 0.9.4.
    private static let libraries = ["mcp", "rmcp", "Java SDK MCP Client", "chuk-mcp-client"]

    /// How many wrappers are looked through, such as a shell that has started this process.
    private static let wrapperLimit = 4

    /// Whether a client's name is that of a single program.
    static func isTold(by name: String) -> Bool {
        !name.allSatisfy(\.isWhitespace) && !libraries.contains(where: name.isIdentical)
    }

    /// The name of the program that has started this process; `nil` if it can't be told, or has
    /// ended.
    static func current() -> String? {
        name(from: getppid()) { ProcessStart(of: $0) }
    }

    /// - Parameter start: How a process was started; `nil` if that can't be seen.
    static func name(
        from process: Int32, start: (Int32) -> ProcessStart?
    ) -> String? {
        var process = process
        for _ in 0...wrapperLimit {
            // The first process of a machine or a container has adopted this one.
            guard process > 1, let start = start(process) else { return nil }
            switch Name(start) {
            case .known(let name): return name
            case .unknown: return nil
            case .wrapper: process = start.parent
            }
        }
        return nil
    }
}

extension AskingProgram {
    /// What a process is called.
    enum Name: Equatable {
        /// The program, or the script that it interprets.
        case known(String)
        /// An interpreter without a script of its own.
        case unknown
        /// It has started another program, and is not what that works for.
        case wrapper

        init(_ start: ProcessStart) {
            let program = start.program
            if Self.wrappers.contains(program) {
                self = .wrapper
            } else if let interpreter = Interpreter(program) {
                self = interpreter.name(start.words)
            } else {
                self = .known(program)
            }
        }

        /// They wait for the program that they have started.
        private static let wrappers: Set = [
            "doas", "runuser", "script", "strace", "su", "sudo", "time", "timeout", "unshare",
        ]
    }

    /// A program that runs another one, which its arguments name.
    private struct Interpreter {
        /// The options before code, after which there is no script.
        private let code: Set<String>
        /// The options before a value that is not the script.
        private let values: Set<String>
        /// The options before what is run instead of a script.
        private let naming: Set<String>
        private let isShell: Bool

        private init(
            code: Set<String> = [], values: Set<String> = [], naming: Set<String> = [],
            isShell: Bool = false
        ) {
            self.code = code
            self.values = values
            self.naming = naming
            self.isShell = isShell
        }

        /// - Parameter program: May end in a version, such as `python3.11`.
        init?(_ program: String) {
            let name = program.replacing(/[-0-9.]+$/, with: "")
            guard let known = Self.all.first(where: { $0.names.contains(name) }) else { return nil }
            self = known.interpreter
        }

        private static let all: [(names: [String], interpreter: Interpreter)] = [
            (
                ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "busybox"],
                Interpreter(
                    code: ["-c"], values: ["-o", "-O", "+o", "+O", "--rcfile", "--init-file"],
                    isShell: true)
            ),
            (
                ["python", "pypy"],
                Interpreter(
                    code: ["-c"], values: ["-W", "-X", "--check-hash-based-pycs"], naming: ["-m"])
            ),
            (
                ["node", "nodejs", "bun", "deno"],
                Interpreter(
                    code: ["-e", "-p", "--eval", "--print"],
                    values: [
                        "-r", "--require", "--import", "--loader", "--experimental-loader", "-C",
                        "--conditions", "--env-file",
                    ])
            ),
            (["ruby"], Interpreter(code: ["-e"], values: ["-I", "-C"])),
            (["perl"], Interpreter(code: ["-e", "-E"], values: ["-I"])),
            (["php"], Interpreter(code: ["-r"], values: ["-c", "-d"], naming: ["-f"])),
            (["lua", "luajit"], Interpreter(code: ["-e"], values: ["-l"])),
            (
                ["java"],
                Interpreter(
                    values: ["-cp", "-classpath", "--class-path", "-p", "--module-path"],
                    naming: ["-jar", "-m", "--module"])
            ),
        ]

        /// - Parameter words: The program's arguments, with its own name.
        func name(_ words: [String]) -> Name {
            var rest = words.dropFirst()
            while let word = rest.popFirst() {
                guard word.hasPrefix("-") || word.hasPrefix("+"), word.count > 1 else {
                    // `bun run` and `deno run`; the applet of busybox.
                    if ["run", "sh", "ash"].contains(word) { continue }
                    return Self.named(word)
                }
                let option = option(word)
                if code.contains(option) { return isShell ? .wrapper : .unknown }
                if values.contains(option) { _ = rest.popFirst() }
                if naming.contains(option) { return rest.first.map(Self.named) ?? .unknown }
            }
            return .unknown
        }

        /// The option that counts in a word: of letters behind one dash, such as `-Bm`, the last.
        private func option(_ word: String) -> String {
            let isKnown = code.contains(word) || values.contains(word) || naming.contains(word)
            guard !isKnown, !word.hasPrefix("--"), let last = word.last else { return word }
            return String(word.prefix(1)) + String(last)
        }

        private static func named(_ word: String) -> Name {
            let name = FilePath.name(of: word)
            return name.allSatisfy(\.isWhitespace) || name == "-" ? .unknown : .known(name)
        }
    }
}

/// How a process was started, as far as this one may see it; see proc(5).
struct ProcessStart {
    /// The name of the file that it runs.
    let program: String
    /// Its arguments, with its own name; it may have changed them.
    let words: [String]
    /// The process that has started it, or has adopted it since.
    let parent: Int32

    init(program: String, words: [String], parent: Int32) {
        self.program = program
        self.words = words
        self.parent = parent
    }

    /// How a process was started; `nil` if there is none that can be seen.
    init?(of pid: Int32) {
        let fields = LinuxFile.text("/proc/\(pid)/stat")?.split(separator: ")").last?
            .split(separator: " ")
        guard let fields, fields.count > 1, let parent = Int32(fields[1]) else { return nil }
        // The file may belong to another account, and may have been replaced.
        let file = LinuxFile.link("/proc/\(pid)/exe").map { path in
            path.hasSuffix(" (deleted)") ? path.dropLast(10) : path[...]
        }
        let name = file?.split(separator: "/").last.map(String.init)
        guard let program = name ?? LinuxFile.text("/proc/\(pid)/comm") else { return nil }
        let words = LinuxFile.text("/proc/\(pid)/cmdline")?.split(separator: "\0") ?? []
        self.init(program: program, words: words.map(String.init), parent: parent)
    }
}
