import AlertCore
import FoundationEssentials
import SQL
import TextFormats

/// An alert as read from its row in `alerts`: the value that the core compares with the log.
package struct AlertRow {
    package var alert: StoredAlert
    /// The contradictions between the row's own columns.
    package let contradictions: [String]

    package static let columns = AlertProperty.columns.list + ", " + Column.list
    /// The columns of the table `alerts` among them.
    package static let tableColumns =
        AlertProperty.columns
        + Column.allCases.prefix { $0.rawValue < Column.sourceName.rawValue }.map(\.snakeCased)

    package var record: AlertRecord { alert.record }
    package var expiry: ClockReading? { alert.expiry }
    /// The salted hash of what the row asks; `nil` once its texts have been erased.
    package var content: [UInt8]? { alert.content }

    /// Reads a row of ``columns``.
    package init(_ row: borrowing some SQLRow & ~Copyable) throws {
        let id = row.integer(Column.id)
        let salt = row.blob(Column.salt)
        let left = salt == nil ? try Self.left(row, id) : nil
        let alert = try Self.alert(row, left)
        let boot = row.text(Column.boot)
        let expiry = Expiry.moment(
            wallMilliseconds: row.optionalInteger(Column.expiresMs),
            bootMilliseconds: row.optionalInteger(Column.expiresBootMs), boot: boot)
        let response = try Self.response(row, id: id, alert: alert)
        var record = AlertRecord(
            id: id, alert: alert,
            source: try Self.source(row, id),
            state: response == nil ? .queued : .resolved,
            askedAt: Timestamp.date(milliseconds: row.integer(Column.askedMs)),
            presentedAt: row.optionalInteger(Column.presentedMs).map(Timestamp.date),
            expiresAt: row.optionalInteger(Column.expiresMs).map(Timestamp.date),
            snoozedUntil: row.optionalInteger(Column.snoozedMs).map(Timestamp.date),
            snoozes: Int(row.integer(Column.snoozes)), response: response)
        record.isErased = salt == nil
        record.note(expiry)
        let asked = ClockReading(
            wallMilliseconds: row.integer(Column.askedMs),
            bootMilliseconds: row.integer(Column.askedBootMs), boot: boot)
        record.awaitedSince = row.integer(Column.awaited) != 0 ? asked : nil
        if response != nil {
            let given = row.optionalText(Column.resolvedBoot).map { boot in
                ClockReading(
                    wallMilliseconds: row.integer(Column.resolvedMs),
                    bootMilliseconds: row.integer(Column.resolvedBootMs), boot: boot)
            }
            record.setGiven(at: given, deadline: expiry)
        }
        record.salt = salt
        self.alert = StoredAlert(
            record: record, asked: asked, expiry: expiry,
            snoozedUntil: row.optionalInteger(Column.snoozedMs).map { milliseconds in
                ClockReading(
                    wallMilliseconds: milliseconds,
                    bootMilliseconds: row.integer(Column.snoozedBootMs),
                    boot: row.text(Column.snoozedBoot))
            },
            resolvedSequence: row.optionalInteger(Column.resolvedSeq),
            remains: left.map { left in
                StoredAlert.Remains(
                    buttons: left, sequence: row.optionalInteger(Column.erasedSeq),
                    isBlank: Self.isBlank(row, left))
            })
        contradictions = Self.contradictions(row, response)
    }

    /// Whether the deadline has passed although the expiry is not stored yet.
    package func isOverdue(at now: ClockReading) -> Bool { record.isOverdue(expiry, at: now) }

    /// The record as readers see it: an overdue alert appears as expired.
    package func visible(at now: ClockReading) -> AlertRecord {
        record.visible(expiry, snoozedUntil: alert.snoozedUntil, at: now)
    }

    /// The row, if the log confirms it.
    ///
    /// - Parameter trail: What the log says about it, its erasure included.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the log contradicts it.
    package consuming func checked(by trail: AlertTrail) throws(AlertError) -> AlertRow {
        var row = self
        row.alert.computeContent()
        let faults = row.contradictions.map { AlertFault($0) } + trail.faults(of: row.alert)
        if let fault = trail.restoredFault ?? faults.first { throw fault.error(of: row.record.id) }
        if trail.wasStale { row.alert.record.response?.isStale = true }
        row.alert.record.claim = trail.claim
        return row
    }

    /// The record, with whether the log contradicts it.
    ///
    /// - Parameter check: The row, if the log confirms it.
    package func compared(_ check: (AlertRow) throws -> AlertRow) throws -> AlertRecord {
        do {
            return try check(self).record
        } catch AlertError.inconsistent {
            var record = record
            record.isContradicted = true
            return record
        }
    }

    /// The row that was found by a key, if it has that, and no other alert has taken it.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` otherwise.
    package func checkedKey(
        _ key: String, source: String, of principal: Principal
    ) throws(AlertError) -> AlertRow {
        guard record.alert.key.isIdentical(to: key), record.source.principal == principal,
            record.source.name.isIdentical(to: source)
        else { throw .inconsistent(record.id, "an index finds it under another key") }
        guard record.response?.supersededBy == nil else {
            throw .inconsistent(record.id, "the alert that took its key is gone")
        }
        return self
    }

    private static let responseColumns: [Column] = [
        .buttonIndex, .resolvedBy, .handled, .responder, .responderName, .via, .tty, .ssh,
        .responderMeans, .responderHost, .responderPid, .resolvedMs, .resolvedSeq, .collectedMs,
        .fieldValues, .note, .supersededBy, .resolvedBootMs, .resolvedBoot,
    ]

    private static func contradictions(
        _ row: borrowing some SQLRow & ~Copyable, _ response: Response?
    ) -> [String] {
        var contradictions: [String] = []
        if response == nil, !Self.responseColumns.allSatisfy({ row.isNull($0) }) {
            contradictions.append("waits, and has a part of a response")
        }
        if row.isNull(Column.expiresMs), !row.isNull(Column.expiresBootMs) {
            contradictions.append("has a deadline without a time")
        }
        if row.integer(Column.handled) != 0, response?.outcome != .cancelled {
            contradictions.append("has a handled cancel, but was not cancelled")
        }
        let hasMeans =
            row.hasMeans(Column.means, host: Column.host, pid: Column.pid)
            && (response?.responder == nil
                || row.hasMeans(
                    Column.responderMeans, host: Column.responderHost, pid: Column.responderPid))
        if !hasMeans { contradictions.append("names what spoke in part, or impossibly") }
        if !row.isNull(Column.salt), !row.isNull(Column.erasedSeq) {
            contradictions.append("has texts, although it names an entry that erased them")
        }
        return contradictions
    }

    private static let buttonsIndex = AlertProperty.index("buttons")
    private static let defaultButtonIndex = AlertProperty.index("default")

    /// What is left of the buttons once the texts have been erased.
    private static func left(_ row: borrowing some SQLRow & ~Copyable, _ id: Alert.ID) throws
        -> ErasedButtons
    {
        let text = row.optionalText(at: buttonsIndex) ?? ""
        guard let buttons = try? StoredJSON.partialButtons(text) else {
            throw damaged(id, "buttons")
        }
        return ErasedButtons(
            stored: buttons, defaultButton: row.optionalText(at: defaultButtonIndex))
    }

    /// Whether none of the texts that an erasure removes is there.
    private static func isBlank(_ row: borrowing some SQLRow & ~Copyable, _ left: ErasedButtons)
        -> Bool
    {
        for (index, property) in AlertProperty.all.enumerated() where property.erasure == .removed {
            guard row.value(at: Int32(index)) == property.value(leaving: left) else { return false }
        }
        return row.isNull(Column.fieldValues) && row.isNull(Column.note)
            && left.buttons.allSatisfy { $0.title == nil }
    }

    private static func alert(_ row: borrowing some SQLRow & ~Copyable, _ left: ErasedButtons?)
        throws -> Alert
    {
        var alert = Alert("#\(row.integer(Column.id))")
        var column: Int32 = 0
        for property in AlertProperty.all {
            guard property.read(row, at: column, left, into: &alert) else {
                throw damaged(row.integer(Column.id), property.column)
            }
            column += 1
        }
        alert.deadline = row.optionalInteger(Column.expiresMs).map {
            .at(Timestamp.date(milliseconds: $0))
        }
        alert.source = row.text(Column.sourceName)
        return alert
    }

    private static func response(
        _ row: borrowing some SQLRow & ~Copyable, id: Alert.ID, alert: Alert
    ) throws -> Response? {
        guard let outcomeName = row.optionalText(Column.outcome) else { return nil }
        guard let outcome = Outcome(rawValue: outcomeName),
            let by = ResolvedBy(rawValue: row.text(Column.resolvedBy))
        else { throw damaged(id, "response") }
        let index = Int(row.integer(Column.buttonIndex))
        var response = Response(
            alertID: id, outcome: outcome, buttonIndex: index,
            button: alert.buttons.indices.contains(index) ? alert.buttons[index] : nil, by: by,
            responder: try responder(row, id),
            resolvedAt: Timestamp.date(milliseconds: row.integer(Column.resolvedMs)),
            collectedAt: row.optionalInteger(Column.collectedMs).map(Timestamp.date),
            userInfo: alert.userInfo,
            cancelHandling: outcome == .cancelled
                ? CancelHandling(isHandled: row.integer(Column.handled) != 0) : nil,
            input: try input(row, id, alert))
        response.supersededBy = row.optionalInteger(Column.supersededBy)
        return response
    }

    private static func input(
        _ row: borrowing some SQLRow & ~Copyable, _ id: Alert.ID, _ alert: Alert
    ) throws -> Alert.Input {
        let note = row.optionalText(Column.note)
        guard let text = row.optionalText(Column.fieldValues) else {
            return Alert.Input(note: note)
        }
        guard let json = try? JSONValue(parsing: Array(text.utf8)),
            let input = try? Alert.Input(json: json, note: note, fields: alert.fields)
        else { throw damaged(id, "values") }
        return input
    }

    private static func source(
        _ row: borrowing some SQLRow & ~Copyable, _ id: Alert.ID
    ) throws -> AlertRecord.Source {
        guard let principal = Principal(text: row.text(Column.sourcePrincipal)),
            let means = means(row, Column.means, host: Column.host, pid: Column.pid)
        else { throw damaged(id, "asker") }
        return AlertRecord.Source(name: row.text(Column.sourceName), principal, means)
    }

    private static func responder(
        _ row: borrowing some SQLRow & ~Copyable, _ id: Alert.ID
    ) throws -> Caller? {
        guard let text = row.optionalText(Column.responder) else { return nil }
        guard let principal = Principal(text: text, user: row.optionalText(Column.responderName)),
            let means = means(
                row, Column.responderMeans, host: Column.responderHost, pid: Column.responderPid)
        else { throw damaged(id, "responder") }
        return Caller(
            principal, via: row.text(Column.via), means: means, tty: row.optionalText(Column.tty),
            ssh: row.optionalText(Column.ssh))
    }

    /// What spoke, also if its columns don't fit together, which ``contradictions`` says.
    private static func means(
        _ row: borrowing some SQLRow & ~Copyable, _ text: Column, host: Column, pid: Column
    ) -> Means? {
        if let text = row.optionalText(text) { return Means(text: text, host: nil, pid: nil) }
        let pid = Int32(truncatingIfNeeded: row.integer(pid))
        return .process(ProcessIdentity(host: row.text(host), pid: pid))
    }

    private static func damaged(_ id: Alert.ID, _ what: String) -> AlertError {
        .inconsistent(id, "its \(what) can't be understood")
    }
}

extension AlertRow {
    /// The columns of an alert after those of its properties, in the order of the query.
    package enum Column: Int, ColumnList {
        // Of the table `alerts`.
        case id, awaited, means, pid, host, boot, askedMs
        case askedBootMs, expiresMs, expiresBootMs, presentedMs, snoozes, snoozedMs, salt
        case outcome, buttonIndex, resolvedBy, handled, responder, responderName, via, tty, ssh
        case responderMeans, responderHost, responderPid, resolvedMs, resolvedSeq, collectedMs
        case fieldValues, note, supersededBy, resolvedBootMs, resolvedBoot
        // Used only by stores.
        case erasedSeq, snoozedBootMs, snoozedBoot
        // Of the table `sources`.
        case sourceName, sourcePrincipal

        package static let offset = Int32(AlertProperty.all.count)

        package var sql: String {
            switch self {
            case .id: "alerts.id"
            case .host: "alerts.host"
            case .sourceName: "sources.name"
            case .sourcePrincipal: "sources.principal"
            case .supersededBy: "nullif(superseded_by, 0)"
            default: snakeCased
            }
        }
    }
}

extension SQLRow where Self: ~Copyable {
    /// What spoke, from its three columns; `nil` if they don't fit together.
    package func means<Columns: ColumnList>(
        _ text: Columns, host: Columns, pid: Columns
    ) -> Means? {
        guard hasMeans(text, host: host, pid: pid) else { return nil }
        return Means(
            text: optionalText(text), host: optionalText(host),
            pid: optionalInteger(pid).flatMap(Int32.init(exactly:)))
    }

    /// Whether its columns are there that name a process, or the one that names what else spoke.
    fileprivate func hasMeans<Columns: ColumnList>(
        _ text: Columns, host: Columns, pid: Columns
    ) -> Bool {
        guard isNull(text) else { return isNull(host) && isNull(pid) }
        return !isNull(host) && isInteger(at: pid.index) && Int32(exactly: integer(pid)) != nil
    }
}
