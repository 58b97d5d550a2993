import AlertQueue
import Glibc

/// `alertq backup FILE`: copies the queue into one file.
package struct BackupCommand: Command {
    package static let name = "backup"
    package static let abstract = "Copy the queue into one file, while others go on using it"
    package static let operands = ["FILE"]
    package static let options = [force, keep]
    package static let discussion = [
        """
        The file appears when it is complete and on the disk, and only its owner may read it; it \
        holds all texts. In a directory it is named after the queue and the time in UTC, such as \
        queue-2026-11-22T10-04-05Z.db. Where it is, its size, the end of its audit log and the \
        command that checks it are printed: keep that end elsewhere.
        """,
        """
        With --keep, older backups of these very names are removed from the directory, once the \
        new one is on the disk. `alertq restore FILE` puts a backup back.
        """,
        """
        With --json the object has the keys “path”, “size” in bytes, “head” as audit head prints \
        it, “check” (the command) and “removed” (the paths of older backups).
        """,
    ]

    static let force = Option("force", help: "Replace a file that exists")
    static let keep = Option(
        "keep", "COUNT", help: "In a directory: keep so many backups, at most 10,000")

    private let queue: QueueChoice
    private let path: String
    private let replaces: Bool
    private let count: Int?
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        path = arguments.operands[0]
        guard !path.isEmpty else { throw UsageError("the path of the backup is empty") }
        replaces = arguments.has(Self.force)
        count =
            arguments.has(Self.keep)
            ? try arguments.count(Self.keep, unlessGiven: 1, atMost: 10_000) : nil
        isJSON = arguments.has(.json)
    }

    package func run(in context: Context) async throws -> ExitCode {
        guard count == nil || Self.isDirectory(path) else {
            throw UsageError("--keep is for a directory, and \(path) is none")
        }
        guard replaces || Self.isDirectory(path) || access(path, F_OK) != 0 else {
            throw CommandError(.inputOutput, "\(path) exists; --force replaces it")
        }
        let found = try await ProgressBar.during("copying", in: context) { bar in
            try await queue.openExisting(via: Self.name) { manager in
                try await manager.backUp(
                    to: path, replacingFile: replaces, keeping: count
                ) { bar.show($0, of: $1) }
            }
        }
        // What is not there must not pass for a queue that was copied.
        guard let report = found else { throw queue.noQueue }
        try tell(report, in: context)
        return .done
    }

    private func tell(_ report: BackupReport, in context: Context) throws {
        let check = Self.check(report)
        guard !isJSON else {
            try context.print(
                JSONValue.object([
                    ("path", .string(report.path)), ("size", .integer(report.size)),
                    ("head", .optional(report.head?.text)), ("check", .string(check)),
                    ("removed", .array(report.removed.map { .string($0) })),
                ]).text())
            return
        }
        try context.print(
            "backed up to \(SafeText.line(report.path)) (\(report.size) bytes)",
            "head   \(report.head?.text ?? "none: nothing has happened yet")",
            "check  \(check)")
        for path in report.removed { context.note("removed the older backup \(path)") }
    }

    /// The command that checks a backup.
    private static func check(_ report: BackupReport) -> String {
        let head = report.head.map { " --head \($0.text)" } ?? ""
        return "alertq audit verify --database \(ShellText.quoted(report.path))" + head
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
