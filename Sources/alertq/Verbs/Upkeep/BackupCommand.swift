import AlertQueue
import Glibc
import Linux
import TextFormats

/// `alertq backup FILE`: copies the queue into one file.
struct BackupCommand: Command {
    static let name = "backup"
    static let abstract = "Copy the queue into one file, while other processes use it"
    static let operands: [Operand<Self>] = [Operand(.backup, \.$path)]
    static let options: [Option<Self>] = [
        Option("force", \.replaces, help: "Replace a file that exists"),
        Option(
            "keep", .count(atMost: mostKept), \.count,
            help: "In a directory: keep the newest COUNT backups, at most 10,000"),
    ]
    static let discussion = [
        """
        The file appears once it is complete, on the disk, and verified. It holds all texts, and \
        only its owner may read it. If FILE is a directory, the backup in it is named after the queue and \
        the time in UTC, such as queue-2026-11-22T10-04-05Z.db. The path of the backup, its size, \
        the head of its audit log and the command that checks it are printed: keep the head \
        elsewhere.
        """,
        """
        With --keep, older backups with such names are removed from the directory, once the new \
        one is on the disk. A copy that does not verify is kept under a name with “-damaged”; the \
        exit code is 65, and nothing is removed. A backup can be read, but not asked or answered \
        in; `alertq restore FILE` restores it.
        """,
        """
        With --json the object has the keys “path”, “size” in bytes, “head” as audit head prints \
        it, “check” (the command) and “removed” (the paths of older backups).
        """,
    ]

    /// How many backups can be kept at most.
    static let mostKept = 10_000

    var common = QueueOptions()
    @Required private var path: String
    private var replaces = false
    private var count: Int?

    /// What to do where the queue is no file.
    static let ofServer = "back up its database with the server's own tools, such as pg_dump"

    func run(in context: Context) async throws -> ExitCode {
        try queue.requireFile(otherwise: Self.ofServer)
        guard count == nil || LinuxFile.isDirectory(path) else {
            let what = access(path, F_OK) == 0 ? "is not one" : "does not exist"
            throw UsageError("--keep needs a directory, and \(path) \(what)")
        }
        guard replaces || LinuxFile.isDirectory(path) || access(path, F_OK) != 0 else {
            throw CommandError(.inputOutput, "\(path) exists; --force replaces it")
        }
        let found = try await ProgressBar.during("copying", in: context) { bar in
            try await queue.read(in: context) { manager in
                try await manager.backUp(
                    to: path, replacingFile: replaces, keeping: count
                ) { bar.show($0, of: $1) }
            }
        }
        // A missing queue must not pass for one that was copied.
        guard let report = found else { throw queue.noQueue }
        try print(report, in: context)
        return .done
    }

    private func print(_ report: BackupReport, in context: Context) throws {
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
}

extension Argument where Value == String {
    /// The file of a backup, for verbs that write or read one.
    static var backup: Argument { path("FILE", ifEmpty: "the path of the backup is empty") }
}
