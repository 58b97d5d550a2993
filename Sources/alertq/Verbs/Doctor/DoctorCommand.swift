import AlertPresenters
import AlertQueue
import Linux
import Synchronization
import TextFormats

/// `alertq doctor`: checks whether a queue is in order, and says what to do if it is not.
struct DoctorCommand: Command {
    static let name = "doctor"
    static let abstract = "Check a queue, and say what to do if something is wrong"
    static let options: [Option<Self>] = [
        Option("reindex", \.reindexes, help: "Rebuild the search index"),
        Option(
            "setup-system", \.setsUp,
            help: "Create the group and the directory of the system queue"),
        Option(
            "setup-postgresql", \.setsUpServer,
            help: "Make the tables of a queue in PostgreSQL, and the queue"),
        Option(
            "print", \.printsSetUp,
            help: "With --setup-postgresql: print the SQL instead of running it"),
        Option(
            "timers", .path(ifEmpty: "the path of the directory is empty"), \.directory,
            orAlone: \.hasTimersAlone,
            help: "Print systemd units for a daily backup into the directory PATH"),
        Option(
            "keep", .count(atMost: BackupCommand.mostKept), \.$count,
            help: "How many backups the timer keeps", default: \.description),
        Option(
            "purge-after", .age, \.age,
            help: "Also purge texts older than this, such as 180d"),
        Option("install", \.installs, help: "Write the units of --timers, and start them"),
        Option("uninstall", \.uninstalls, help: "Stop the units of --timers, and remove them"),
        Option("strict", \.isStrict, help: "Fail if something waits too long and nobody is there"),
        Option(
            "waiting", .duration, \.$patience, help: "With --strict: how long is too long",
            default: LengthText.text),
    ]
    static let discussion = [
        """
        The exit code is that of the first check that failed: 74 for the database and the disk; 75 \
        for a process that holds the queue's lock, a stopped process that holds responses, a \
        presenter that does not respond, a program that keeps the write-ahead log from being \
        emptied, and a purge that has not finished, and on a server for a clock that is wrong, a \
        standby that is missing, and connections that run out; 77 for permissions; 66 for a queue \
        that is missing; 65 for the audit log and for the schema: its tables, indexes, views and \
        triggers.
        """,
        """
        With --strict, for monitoring, it is also 1 if no process shows the queue's alerts and an \
        alert has waited for as long as --waiting says: since it was asked, or since its snooze was \
        over. An asker that shows its question on its own terminal shows no other alerts, so it \
        does not count. Otherwise 0 means that all is well.
        """,
        """
        --setup-system must be run by root. It creates the group alertq and the directory \
        /var/lib/alertq, or corrects what is wrong with them, and can be repeated.
        """,
        """
        --setup-postgresql makes the tables in the database, in a schema of their own, alertq, and \
        a queue there; run it as the account that is to own them, which needs CREATE on the \
        database. What is there already stays. --print prints only what is missing, or everything \
        if the database can't be read.
        """,
        """
        --reindex discards the index that history --text searches, and rebuilds it from the texts; \
        if it is interrupted, repeat it: until then searches take longer.
        """,
        """
        Where an index, a trigger or a view of the schema is missing or was changed, the statements \
        that put it back are printed, to be given to sqlite3 once it is known who did that. doctor \
        itself only reads, unless it is given one of the options above.
        """,
        """
        --timers prints systemd units that back the queue up into the directory PATH every day \
        and, with --purge-after, erase the texts of older alerts every month. --install writes and \
        starts them: for the whole system with --system, otherwise for your own session. If systemd \
        can't be reached, it ends with 74 and prints what is left to run. doctor --timers --uninstall \
        stops and removes them; the backups stay.
        """,
        """
        With --json each check is an object with the keys “check”, “ok”, “detail”, “advice” and \
        “sql”, the statements that the advice is about.
        """,
    ]

    var common = QueueOptions()
    private var reindexes = false
    private var setsUp = false
    /// Where the backups of `--timers` go.
    private var directory: String?
    private var setsUpServer = false
    private var printsSetUp = false
    /// Whether `--timers` was given without a directory: removing needs none.
    private var hasTimersAlone = false
    @Defaulted private var count = 30
    private var age: String?
    private var installs = false
    private var uninstalls = false
    private var isStrict = false
    @Defaulted private var patience = Duration.seconds(3600)

    func validate() throws {
        guard !hasTimersAlone || uninstalls else {
            throw UsageError("--timers needs the PATH of a directory")
        }
        guard !uninstalls || (directory == nil && !$count.isGiven && age == nil && !installs) else {
            throw UsageError("--timers --uninstall needs no PATH, and no other option of --timers")
        }
        guard isStrict || !$patience.isGiven else { throw UsageError("--waiting needs --strict") }
        guard directory != nil || (!$count.isGiven && age == nil && !installs) else {
            throw UsageError("--keep, --purge-after and --install need --timers")
        }
        guard setsUpServer || !printsSetUp else {
            throw UsageError("--print needs --setup-postgresql")
        }
        let jobs = [reindexes, setsUp, setsUpServer, directory != nil || uninstalls, isStrict]
        guard jobs.count(where: { $0 }) <= 1 else {
            throw UsageError(
                "--reindex, --setup-system, --setup-postgresql, --timers and --strict can't be "
                    + "combined; give one of them")
        }
        guard !setsUp || common.database == nil else {
            throw UsageError("--setup-system is for the system queue, not for --database")
        }
    }

    func run(in context: Context) async throws -> ExitCode {
        if setsUp {
            for finding in try await SystemQueueSetup().run() { try print(finding, context) }
            return .done
        }
        if printsSetUp {
            try context.output.write(queue.location.serverSetUp())
            return .done
        }
        if setsUpServer {
            try queue.location.setUpServer()
            let place = queue.location.description
            try print(Finding(check: "database", detail: "\(place) has the queue"), context)
            return .done
        }
        if directory != nil { try queue.requireFile(otherwise: BackupCommand.ofServer) }
        if reindexes {
            try queue.requireFile(
                otherwise: "REINDEX INDEX alerts_words rebuilds the index that is searched")
        }
        if let directory { return try await makeTimers(directory, in: context) }
        if uninstalls {
            let findings = try await TimerUnits.uninstall(of: queue, in: context)
            for finding in findings { try print(finding, context) }
            return .done
        }
        if reindexes {
            try await print(reindexed(in: context), context)
            return .done
        }
        if queue.isNamedByEnvironment {
            let place = queue.location.description
            let detail = "$ALERTQ_DATABASE names \(place)"
            try print(Finding(check: "queue", detail: detail, isNote: true), context)
        }
        let checkup = QueueCheckup(
            path: queue.path, isExpected: queue.isNamed, patience: isStrict ? patience : nil)
        return try print(await checkup.findings() + PresenterCheckup.findings(), in: context)
    }

    /// Prints findings; returns the code of the first problem.
    private func print(_ findings: [Finding], in context: Context) throws -> ExitCode {
        var code = ExitCode.done
        for finding in findings {
            try print(finding, context)
            if code == .done { code = finding.code }
        }
        return code
    }

    private func makeTimers(
        _ directory: String, in context: Context
    ) async throws -> ExitCode {
        guard !installs || LinuxFile.isDirectory(directory) else {
            throw CommandError(
                .notFound,
                "\(directory) is not a directory; to create it: mkdir -p -m 700 "
                    + ShellText.quoted(directory))
        }
        let units = try TimerUnits(
            program: try Program.path(), queue: queue.words,
            directory: QueueChoice.absolute(directory),
            keeping: count, age: age, isSystem: queue == .system, in: context)
        if installs { return try print(try await units.install(), in: context) }
        try context.output.write(units.text)
        return .done
    }

    private func reindexed(in context: Context) async throws -> Finding {
        let count = try await ProgressBar.during("indexing", in: context) { bar in
            try await queue.openExisting(via: Self.name) { manager in
                let count = Mutex(0)
                try await manager.rebuildTextIndex { done, total in
                    count.withLock { $0 = total }
                    bar.show(done, of: total)
                }
                return count.withLock { $0 }
            }
        }
        guard let count else { throw queue.noQueue }
        return Finding(
            check: "text index", detail: "the words of \(count) responses were reindexed")
    }

    private func print(_ finding: Finding, _ context: Context) throws {
        guard !isJSON else {
            try context.print(
                JSONValue.object([
                    ("check", .string(finding.check)), ("ok", .bool(finding.code == .done)),
                    ("detail", .string(finding.detail)), ("advice", .optional(finding.advice)),
                    ("sql", .optional(finding.sql)),
                ]).text())
            return
        }
        let style = context.style
        let mark =
            finding.isNote
            ? style.dim("note   ")
            : finding.code == .done ? style.green("ok     ") : style.red("problem")
        let texts = ["\(finding.check): \(finding.detail)"] + [finding.advice].compactMap { $0 }
        let columns = context.output.columns ?? .max
        let lines = texts.flatMap { text in
            DisplayWidth.wrapped(SafeText.line(text), to: max(20, columns - 9))
        }
        let indent = String(repeating: " ", count: 9)
        for (index, line) in lines.enumerated() {
            try context.print((index == 0 ? mark + "  " : indent) + line)
        }
        // As it is, because the schema is compared byte by byte.
        if let sql = finding.sql { try context.print(sql) }
    }
}

extension Argument where Value == String {
    /// A duration, which is passed to another process as it was typed.
    fileprivate static var age: Argument {
        Argument("DURATION") { text throws(UsageError) in
            _ = try Argument<Duration>.duration.read(text)
            return text
        }
    }
}
