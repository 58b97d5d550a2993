import AlertQueue
import Glibc
import TextFormats

/// `alertq restore FILE`: replaces the queue with a backup.
struct RestoreCommand: Command {
    static let name = "restore"
    static let abstract = "Replace the queue with a backup, and keep the old queue"
    static let operands: [Operand<Self>] = [Operand(.backup, \.$path)]
    static let options: [Option<Self>] = [
        Option(
            "force", \.isForced,
            help: "Restore even if entries are lost, the old queue can't be read, or the backup's "
                + "log contradicts it"),
        Option(
            "head", .auditHead, \.head,
            help: "A head printed earlier, which the backup must contain"),
    ]
    static let discussion = [
        """
        The backup is copied and its audit log verified first. If the log does not verify, or \
        lacks the entry of --head, or if an earlier version made the backup, the exit code is 65, and \
        nothing has changed.
        """,
        """
        With --force a backup is restored although its log contradicts alerts or entries, because \
        somebody has changed them. The log of the restored queue names these: they are never shown \
        or answered, their responses are never returned, and audit verify reports them as known. \
        Damage to the file itself, and more than 999 contradictions, are refused even then.
        """,
        """
        A queue with entries that the backup does not have is replaced only with --force \
        (otherwise 77), and so is a queue that can't be read (otherwise 74). The replaced database \
        is kept next to the new one, under its name with “-replaced-” and the time. Programs that \
        have it open get an error that says so. While a program keeps reading it, so that its \
        log can't be copied, it is not replaced (75).
        """,
        """
        New alerts get ids more than 4,294,967,296 above all that either queue has given, so that \
        an id that was printed before never names another question. The audit log records who \
        restored what.
        """,
        """
        With --json the object has the keys “path” (the database), “head” (of the restored queue, \
        as audit head prints it), “backup” (the head that the backup has), “replaced” (the head of \
        the queue that was replaced), “left” (how many of its entries are not in the restored one; \
        null where it could not be read), “kept” (the files that it is kept in), “next_id” and \
        “problems” (as audit verify has them).
        """,
    ]

    var common = QueueOptions()
    @Required private var path: String
    private var isForced = false
    private var head: AuditHead?

    func run(in context: Context) async throws -> ExitCode {
        try queue.requireFile(
            otherwise: "restore its database with the server's own tools, such as pg_restore")
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CommandError(
                errno == EACCES ? .notPermitted : .notFound,
                "\(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(.badData, "\(path) is not a regular file")
        }
        let report = try await ProgressBar.during("copying", in: context) { bar in
            try await restore(bar)
        }
        try print(report, in: context)
        return .done
    }

    private func restore(_ bar: ProgressBar) async throws -> RestoreReport {
        do {
            try queue.location.createUserDirectory()
            return try await queue.location.administration.restore(
                path, expecting: head, force: isForced, by: Caller(via: Self.name)
            ) { phase, done, total in
                bar.begin(phase == .copying ? "copying" : "verifying")
                bar.show(done, of: total)
            }
        } catch {
            if case .notPermitted(_, let reason) = error, reason.hasSuffix(RestoreReport.lossReason)
            {
                throw CommandError(
                    .notPermitted,
                    "\(error); with --force, the replaced queue is kept next to the new one")
            }
            guard let advice = QueuePresence(path: queue.path).advice(path: queue.path) else {
                throw error
            }
            throw CommandError(ExitCode(error), "\(error); \(advice)")
        }
    }

    private func print(_ report: RestoreReport, in context: Context) throws {
        let database = QueueChoice.absolute(queue.path)
        guard !isJSON else {
            try context.print(
                JSONValue.object([
                    ("path", .string(database)), ("head", .string(report.head.text)),
                    ("backup", .optional(report.backup?.text)),
                    ("replaced", .optional(report.replaced?.text)),
                    ("left", .optional(report.left)),
                    ("kept", .array(report.kept.map { .string($0) })),
                    ("next_id", .integer(report.nextAlert)),
                    ("problems", AuditVerifyCommand.json(report.problems)),
                ]).text())
            return
        }
        try context.print(
            "restored \(SafeText.line(database)) from \(SafeText.line(path))",
            "head   \(report.head.text)")
        for file in report.kept { try context.print("kept   \(SafeText.line(file))") }
        try context.print("ids    continue from \(report.nextAlert)")
        if report.wasOverwritten {
            context.note(
                "a backup had been copied over the queue: what was asked and answered after that "
                    + "backup was made is lost, and a newer backup may have more of it")
        }
        for problem in report.problems { context.note("known from now on: \(problem.reason)") }
        switch report.left {
        case nil: context.note("the replaced queue could not be read; it is kept as it was")
        case 0: break
        case 1: context.note("1 entry of the replaced queue is not in the restored one")
        case let count?:
            context.note("\(count) entries of the replaced queue are not in the restored one")
        }
    }
}
