import AlertQueue
import FoundationEssentials
import TextFormats

/// `alertq purge --older-than TIME`: erases the texts of old resolved alerts.
struct PurgeCommand: Command {
    static let name = "purge"
    static let abstract = "Erase the texts of old resolved alerts; the audit log still verifies"
    static let options: [Option<Self>] = [
        Option(
            "older-than",
            .pastTime.requiring(orElse: "is in the future", Self.isPast), \.olderThan,
            help: "Erase alerts that were resolved before this time, such as 90d (required)"),
        Option("dry-run", \.isDry, help: "Only print what would be erased"),
        Option("force", \.forces, help: "Erase even if the clock may be wrong"),
        Option(
            "no-vacuum", \.leavesFile,
            help: "Leave rewriting the database to a later purge, which finishes this one"),
    ]
    static let discussion = [
        """
        Titles, messages, labels, fields, --info strings, values, notes, and ids that are labels are \
        erased from alerts \
        that were resolved before that time: from the database and from every file next to it. \
        What happened when, who decided, and which button was chosen are kept, as are sources, \
        keys and ids given by the asker; the audit log records whose texts were erased, and by \
        whom. A key still finds its response.
        """,
        """
        Alerts whose response has not been collected are passed over; collect --id releases them. \
        Withdrawn alerts, and alerts without buttons, such as those of notify, need not be \
        collected, but a named handler still has to run for its responses, unless they are \
        collected with collect --handled --id. Alerts of other accounts are passed over too: only \
        these, and root of their machine, can erase them. A note says how many were passed over, and why.
        """,
        DateText.past,
        """
        In a duration, m means minutes: write months in days, such as 180d. The resulting time is \
        printed, and --dry-run prints it without erasing anything.
        """,
        """
        A clock that is years ahead, as after a dead battery, would make everything old. So nothing is \
        erased, and the exit code is 75, if the clock has been set ahead since something was asked \
        in this boot; or if nothing was, the kernel doesn't say that the clock is synchronised, and \
        all of the log is older than that time. --force erases all the same. A date that is typed in \
        full is taken as it is.
        """,
        """
        At its end a purge that has erased anything rewrites the database, because erased texts \
        are still in places of the file that are no longer used. That needs 2.2 times the size of \
        the database free on its file system. Meanwhile nothing can be asked or answered: \
        commands wait for up to two minutes, and a choice on a screen stays marked until it is \
        stored. With --no-vacuum the file is not rewritten: the texts are no longer shown or \
        found, but may still be in the file until a purge without this option.
        """,
        """
        On a PostgreSQL server, where the account must own the tables (77), VACUUM frees the space \
        while others go on. Bytes of the texts stay in unused parts of the server's files, and of its \
        log, until the server reuses them; in its files, VACUUM FULL by the owner ends that.
        """,
        """
        Copies elsewhere can't be erased: backups, snapshots of file systems, blocks of the disk \
        that were in use before. A purge that is interrupted, or that exits with 75 because a \
        program keeps reading the database, or an open transaction or a replication slot of a server \
        is older than the erasure, has not finished: purge again.
        """,
        """
        With --json the object has the keys “erased”, “uncollected” (how many were passed over), \
        “others” (how many of other accounts were passed over), “contradicted” (how many were \
        passed over as evidence, because the audit log contradicts them), “complete”, “dry_run”, \
        “before” (the time) and “handled” (how many of the uncollected ones are left to a named \
        handler).
        """,
    ]

    var common = QueueOptions()
    private var olderThan: PastTime?
    private var isDry = false
    private var leavesFile = false
    private var forces = false

    func validate() throws {
        _ = try limit
        guard !isDry || (!leavesFile && !forces) else {
            throw UsageError(
                "--dry-run writes nothing, so it can't be combined with --no-vacuum and --force")
        }
    }

    private var limit: PastTime {
        get throws(UsageError) {
            guard let olderThan else {
                throw UsageError("expected --older-than TIME, such as --older-than 90d")
            }
            return olderThan
        }
    }

    private static func isPast(_ time: PastTime) -> Bool {
        let now = Date()
        return (try? time.date(now: now)).map { $0 <= now } ?? false
    }

    func run(in context: Context) async throws -> ExitCode {
        try queue.requireOwn()
        try await ProgressBar.during("erasing", in: context) { bar in
            let found = try await queue.openExisting(via: Self.name) { manager in
                let now = await Timestamp.date(milliseconds: manager.time.wallMilliseconds)
                let date = try limit.date(now: now)
                // A date that was typed is the same by any clock.
                let isByClock = try limit.date(now: now - 1_000_000) != date
                let doubt =
                    forces || !isByClock ? nil : try await manager.doubtAboutClock(before: date)
                if let doubt {
                    let advice = doubt + "; set the clock, or add --force"
                    guard isDry else { throw CommandError(.busy, advice + "; nothing was erased") }
                    context.note(advice)
                }
                let report = try await manager.purge(
                    before: date, dryRun: isDry, force: true, rewritesFile: !leavesFile
                ) { progress in
                    bar.begin(Self.label(progress.phase))
                    bar.show(progress.done, of: progress.total)
                }
                return (report: report, date: date)
            }
            bar.clear()
            guard let found else { return }
            try print(found.report, before: found.date, in: context)
        }
        return .done
    }

    private func print(_ report: PurgeReport, before date: Date, in context: Context) throws {
        if isJSON {
            try context.print(
                JSONValue.object([
                    ("erased", .integer(Int64(report.erased))),
                    ("uncollected", .integer(Int64(report.uncollected))),
                    ("others", .integer(Int64(report.others))),
                    ("contradicted", .integer(Int64(report.contradicted))),
                    ("complete", .bool(report.isComplete)), ("dry_run", .bool(isDry)),
                    ("before", AlertJSON.date(date)),
                    ("handled", .integer(Int64(report.handled))),
                ]).text())
        } else {
            let verb = isDry ? "would be" : "were"
            let what = report.erased == 1 ? "1 alert" : "\(report.erased) alerts"
            let time = LocalTime.text(date, context.lastingTime)
            try context.print("the texts of \(what) resolved before \(time) \(verb) erased")
        }
        for line in passedOver(report) { context.note(line) }
        guard !report.isComplete else { return }
        context.note(
            isDry
                ? "an earlier erasure is not finished; purge completes it"
                : leavesFile
                    ? "erased texts may still be in unused places of the file; a purge without "
                        + "--no-vacuum removes them"
                    : "erased texts may still be in unused places of the file; purge again to "
                        + "finish")
    }

    /// The alerts that keep their texts, why, and what releases them.
    private func passedOver(_ report: PurgeReport) -> [String] {
        let time = ShellText.quoted(olderThan?.text ?? "")
        let path = queue.path
        var lines: [String] = []
        let passedOver = report.uncollected - report.handled
        if passedOver > 0 {
            let list = ShellText.verb("history --uncollected --until \(time)", path: path)
            lines.append(
                "\(passedOver) passed over, because the response has not been collected; see: "
                    + "\(list); to collect one: \(ShellText.verb("collect --id ID", path: path))")
        }
        if report.handled > 0 {
            let collect = ShellText.verb("collect --handled --id ID", path: path)
            lines.append(
                "\(report.handled) passed over, because a named handler has not run for them yet; "
                    + "start its program, or collect one instead: \(collect)")
        }
        if report.others > 0 {
            lines.append(
                "\(report.others) passed over, because other accounts asked them; only these, and "
                    + "root of their machine, may erase those")
        }
        if report.contradicted > 0 {
            let verify = ShellText.verb("audit verify", path: path)
            lines.append(
                "\(report.contradicted) passed over as evidence, because the audit log contradicts "
                    + "them; to read how: \(verify)")
        }
        return lines
    }

    private static func label(_ phase: PurgeProgress.Phase) -> String {
        switch phase {
        case .texts: "erasing"
        case .index: "merging the index"
        case .file: "rewriting the file"
        }
    }
}
