import AlertCore
import SQLite

// Checks beyond single entries: the end of the log, and the rows as a whole.
extension AuditCheck {
    mutating func finish(_ db: Database, at now: ClockReading) throws {
        // Entries written since the last page, so that rows and entries are of one moment.
        while try !readPage(db) {}
        report.head = previous.sequence > 0 ? previous : nil
        if let expected, !hasSeenExpected {
            report.report(
                previous.sequence < expected.sequence
                    ? "the log ends at entry \(previous.sequence), before the saved head "
                        + "\(expected.sequence): its tail was cut"
                    : "entry \(expected.sequence) is not the one of the saved head: "
                        + "the log was rewritten", entry: expected.sequence)
        }
        // An entry in the range that is not read could pass for a missing one.
        for sequence in try db.rows(
            "SELECT seq FROM audit NOT INDEXED WHERE seq < 1 ORDER BY seq LIMIT 100",
            read: { $0.integer() })
        {
            report.report("entry \(sequence) comes before the first one", entry: sequence)
        }
        let named = Set(report.problems.compactMap(\.alertID))
        for id in stories.keys.sorted()
        where stories[id]?.asked == 0 && !named.contains(id) {
            report(id, "was never asked, though the log has entries about it")
        }
        let pending = try compareAlerts(db, at: now)
        try compareResponses(db)
        for fault in try pending.differences(from: db) { report.report(fault) }
        for fault in try db.numberingFaults(alerts: alerts, responses: responses) {
            report.report(fault)
        }
        for fault in try db.integrityFaults(isThorough: true) {
            report.report("the file is damaged: \(fault)")
        }
    }

    /// Compares every alert with its entries; returns how many wait, by source.
    private mutating func compareAlerts(
        _ db: Database, at now: ClockReading
    ) throws -> PendingCounts {
        var pending = PendingCounts()
        try db.forEach(
            "SELECT \(Alerts.list) FROM alerts NOT INDEXED ORDER BY id", []
        ) { row in
            let id = row.integer(Alerts.id)
            if row.holds(Alerts.state, "queued") {
                pending.count(
                    row.integer(Alerts.sourceId), account: row.optionalInteger(Alerts.account))
            }
            guard let story = stories[id], story.asked > 0 else {
                return report(id, "was never asked: no entry records it")
            }
            if !row.holds(Alerts.state, story.resolved > 0 ? "resolved" : "queued") {
                report(id, "is in a state that the entries contradict")
            }
            compareMarks(row, with: story)
            compareTexts(row, with: story)
            try compareSnooze(row, with: story, db, at: now)
        }
        return pending
    }

    private mutating func report(_ id: Alert.ID, _ what: String) {
        report.report("alert \(id) \(what)", alert: id)
    }

    private mutating func compareMarks(_ row: borrowing Row, with story: AlertTrail) {
        let id = row.integer(Alerts.id)
        let presented = story.presented > 0 ? story.presentedMilliseconds : nil
        if row.optionalInteger(Alerts.presentedMs) != presented {
            report(id, "has a time of presentation that the log doesn't record")
        }
        if story.collected > 0, story.collected < story.resolved || story.resolved == 0 {
            report(id, "was collected before it had a response")
        }
        if story.ran > 0, story.ran < story.collected || story.collected == 0 {
            report(id, "allowed a command to run before its response was collected")
        }
        if !row.isPID(Alerts.pid) { report(id, "has an invalid process id") }
        let isRequested = row.integer(Alerts.cancelRequested) != 0
        // A mark by older versions has no entry and is ignored.
        if isRequested != (story.cancelling > 0), !(isRequested && story.isAskedBefore) {
            report(id, "differs from the log in whether it is to be cancelled")
        }
        let named = story.isErasureNamed ? story.erased : nil
        if row.optionalInteger(Alerts.erasedSeq) != named {
            report(id, "names an entry that doesn't record its erasure")
        }
        if story.isEndedBefore, !story.isAskedBefore {
            report(id, "ended with an entry that is older than its question")
        }
    }

    /// Compares an alert without texts with its erasure, and checks that one with texts has none.
    private mutating func compareTexts(_ row: borrowing Row, with story: AlertTrail) {
        let (id, isErased) = (row.integer(Alerts.id), row.integer(Alerts.isErased) == 1)
        if isErased, story.erased == 0 {
            report(id, "has lost its texts, and no entry records that")
        } else if isErased, !story.isErasureNamed, !story.isAskedBefore {
            report(id, "was erased by an entry that does not say what is left")
        } else if !isErased, story.erased > 0 {
            report(id, "has texts, which an entry says were erased")
        }
        let buttons = try? StoredJSON.partialButtons(row.text(Alerts.buttons))
        if isErased {
            let isBlank =
                row.isNull(Alerts.title) && row.isNull(Alerts.message)
                && row.holds(Alerts.info, "{}") && buttons?.allSatisfy { $0.title == nil } ?? false
            if !isBlank { report(id, "has texts that were written after they had been erased") }
            if story.resolved == 0 { report(id, "waits, and has lost its texts") }
        }
        // Both SQLite and this program read these, and must read the same.
        let canonical =
            isErased
            ? buttons.map { StoredJSON.encode($0) }
            : (try? StoredJSON.buttons(row.text(Alerts.buttons))).map { StoredJSON.encode($0) }
        let isCanonical =
            story.isAskedBefore
            ? buttons?.isEmpty == row.holds(Alerts.buttons, "[]")
            : canonical.map(row.raw(Alerts.buttons).holds) ?? false
        if !isCanonical {
            report(id, "has buttons that are not written as this program writes them")
        }
        let info = try? StoredJSON.strings(row.text(Alerts.info))
        let isInfoCanonical =
            info.map { row.raw(Alerts.info).holds(StoredJSON.encode($0)) } ?? false
        if !story.isAskedBefore, !isInfoCanonical {
            report(id, "has strings that are not written as this program writes them")
        }
        guard let text = row.optionalText(Alerts.presenters) else { return }
        let names = try? StoredJSON.decode([String].self, text)
        if names.map({ $0.isEmpty || !StoredJSON.encode($0).isIdentical(to: text) }) ?? true {
            report(id, "has presenters that are not written as this program writes them")
        }
    }

    private mutating func compareSnooze(
        _ row: borrowing Row, with story: AlertTrail, _ db: Database, at now: ClockReading
    ) throws {
        let id = row.integer(Alerts.id)
        if row.integer(Alerts.snoozes) != story.snoozes {
            report(
                id,
                "was snoozed \(story.snoozes) times according to the log, but "
                    + "\(row.integer(Alerts.snoozes)) times according to its row")
        }
        let absent = [Alerts.snoozedMs, .snoozedBootMs, .snoozedBoot].map { row.isNull($0) }
        let isWaiting = story.resolved == 0
        guard absent.contains(false) || (isWaiting && story.snoozed > 0) else { return }
        let logged =
            try db.first(
                "SELECT detail FROM audit NOT INDEXED WHERE seq = ?", .integer(story.snoozed)
            ) { $0.optionalText() } ?? nil
        guard absent.contains(false) else {
            if !EntryDetail.mayHaveEnded(snooze: logged, at: now) {
                report(id, "is no longer snoozed, though its snooze can't be over")
            }
            return
        }
        let end = ClockReading(
            wallMilliseconds: row.integer(Alerts.snoozedMs),
            bootMilliseconds: row.integer(Alerts.snoozedBootMs),
            boot: row.text(Alerts.snoozedBoot))
        guard !isWaiting || absent.contains(true) || !EntryDetail.isSnoozed(logged, until: end)
        else {
            return
        }
        report(id, "is snoozed until a different time from the one in its last snooze entry")
    }

    /// Compares every response with its alert's entries.
    private mutating func compareResponses(_ db: Database) throws {
        var (count, last): (Int64, Int64) = (0, 0)
        try db.forEach(
            """
            SELECT \(Responses.list)
            FROM responses NOT INDEXED LEFT JOIN alerts NOT INDEXED ON alerts.id = alert_id
            LEFT JOIN sources NOT INDEXED ON sources.id = source_id ORDER BY seq
            """, []
        ) { row in
            let id = row.integer(Responses.alertId)
            count += 1
            guard let story = stories[id], story.resolved > 0 else {
                return report(id, "has a response that no entry records")
            }
            let number = row.integer(Responses.seq)
            defer { last = number }
            if number != story.number || number <= last {
                report(
                    id,
                    "has response number \(number), which is not its position: "
                        + "\(story.predecessors) were given before")
            }
            let collected = story.collected > 0 ? story.collectedMilliseconds : nil
            if row.optionalInteger(Responses.collectedMs) != collected {
                report(id, "differs from the log in whether and when its response was collected")
            }
            if !isOfItsAlert(row) {
                report(id, "has a response under another source, key, handler or button")
            }
            let awaitsAsker =
                !row.holds(Responses.outcome, "withdrawn") && !row.holds(Responses.buttons, "[]")
            let awaitsCollection = !row.isNull(Responses.alertHandler) || awaitsAsker
            if awaitsCollection, story.erased > 0, !story.isAskedBefore,
                story.collected == 0 || story.collected > story.erased
            {
                report(id, "lost its texts before its response was collected")
            }
            // No presenter means that nobody chose, but the view `history` would show the name.
            if row.isNull(Responses.via), row.integer(Responses.isNobodys) == 0 {
                report(id, "has a response by nobody that names a responder")
            }
            let isWhole =
                row.isUID(Responses.uid) && row.isPID(Responses.pid)
                && row.integer(Responses.hasNoHost) == 0
            if !row.isNull(Responses.via), !isWhole {
                report(id, "has an invalid uid, process id or host in its response")
            }
        }
        let given = Int64(stories.values.reduce(0) { $0 + ($1.resolved > 0 ? 1 : 0) })
        if given != count {
            report.report("\(given) alerts were resolved, but there are \(count) responses")
        }
    }

    private func isOfItsAlert(_ row: borrowing Row) -> Bool {
        let pairs: [(Responses, Responses)] = [
            (.source, .alertSource), (.key, .alertKey), (.handler, .alertHandler),
        ]
        guard pairs.allSatisfy({ mine, its in row.raw(mine).isSame(as: row.raw(its)) }) else {
            return false
        }
        let id = StoredJSON.buttonID(
            at: Int(row.integer(Responses.buttonIndex)), in: row.text(Responses.buttons))
        return row.optionalText(Responses.button).isIdentical(to: id)
    }
}

// MARK: - Columns

extension AuditCheck {
    private enum Alerts: Int, ColumnList {
        case id, state, isErased, presentedMs, snoozes, snoozedMs, snoozedBootMs, snoozedBoot
        case cancelRequested, erasedSeq, sourceId, title, message, info, buttons, presenters, pid
        case account

        var sql: String { self == .isErased ? "salt IS NULL" : snakeCased }
    }

    private enum Responses: Int, ColumnList {
        case alertId, seq, collectedMs, source, alertSource, key, alertKey, handler, alertHandler
        case buttonIndex, button, buttons, via, isNobodys, uid, pid, hasNoHost, outcome

        var sql: String {
            switch self {
            case .source, .key, .handler, .uid, .pid: "responses.\(snakeCased)"
            case .alertSource: "sources.name"
            case .alertKey: "alerts.key"
            case .alertHandler: "alerts.handler"
            case .isNobodys:
                "coalesce(responses.uid, user, tty, ssh, responses.host, responses.pid) IS NULL"
            case .hasNoHost: "responses.host IS NULL"
            default: snakeCased
            }
        }
    }
}

extension Row {
    /// Whether a column holds a valid account number; others would be read as a different account.
    func isUID(_ column: some ColumnList) -> Bool {
        raw(column).kind == .integer && UInt32(exactly: integer(column)) != nil
    }

    func isPID(_ column: some ColumnList) -> Bool {
        raw(column).kind == .integer && Int32(exactly: integer(column)) != nil
    }
}
