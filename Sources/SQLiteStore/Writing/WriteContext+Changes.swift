import AlertCore
import FoundationEssentials
import SQLite

// The changes of the seam, but for a new question, within their transaction.
extension WriteContext {
    /// A receipt, and the next moment at which something becomes due because of the change.
    typealias Changed = (receipt: Receipt, due: ClockReading?)

    /// Makes a change to an alert.
    ///
    /// - Parameter keeper: On whose behalf the alert's deadline is applied.
    func make(
        _ change: Change, to id: Alert.ID, by caller: Caller, keeper: Caller
    ) throws -> Attempt<Changed> {
        let row = try alert(id)
        switch change {
        case .ask: preconditionFailure("A question is stored by PreparedQuestion")
        case .resolve(_, let resolution, let seen):
            if let late = try refuseIfEnded(row, keeper) { return .late(late) }
            guard seen == nil || seen == row.content else { throw AlertError.notAsSeen(id) }
            return .done((try resolve(row, resolution, by: caller), nil))
        case .snooze(_, let end):
            if let late = try refuseIfEnded(row, keeper) { return .late(late) }
            return .done(try snooze(row, until: end, by: caller))
        case .expire:
            guard row.isOverdue(at: now) else {
                return .done((unchanged(row), nil))
            }
            return .done((changed(try expire(row, by: caller)), nil))
        case .collect(_, let reason):
            return .done((try collect(row, unused: reason, by: caller), nil))
        case .run(_, let step):
            return .done((try run(step, allowedBy: row, by: caller), nil))
        case .requestCancel(_, let authority):
            return .done((try requestCancel(of: row, authority, by: caller), nil))
        }
    }

    /// Returns an alert that the log confirms.
    ///
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/inconsistent(_:_:)``.
    func alert(_ id: Alert.ID) throws -> AlertRow {
        guard let row = try db.checkedAlert(id) else { throw AlertError.notFound(id) }
        return row
    }

    /// Stores the expiry of an alert whose deadline has passed, and returns its record.
    ///
    /// - Throws: ``AlertError/alreadyResolved(_:)``.
    private func refuseIfEnded(_ row: AlertRow, _ keeper: Caller) throws -> AlertRecord? {
        if let response = row.record.response { throw AlertError.alreadyResolved(response) }
        return row.isOverdue(at: now) ? try expire(row, by: keeper) : nil
    }

    private func changed(_ record: AlertRecord) -> Receipt {
        Receipt(record: record, isNew: true, sequence: head.sequence)
    }

    private func unchanged(_ row: AlertRow) -> Receipt {
        Receipt(record: row.record, expiry: row.expiry, sequence: head.sequence)
    }

    private func resolve(
        _ row: AlertRow, _ resolution: Resolution, by caller: Caller
    ) throws -> Receipt {
        let record = row.record
        let request = resolution.isRequested ? try db.cancelRequest(of: record.id) : nil
        let actor = resolution.actor(by: caller, request)
        let response = try resolution.response(to: record, at: now, by: actor, request)
        let detail = resolution.detail(of: record, at: now)
        return changed(try store(response, of: row, by: actor, detail: detail))
    }

    private func snooze(
        _ row: AlertRow, until end: Alert.Deadline?, by caller: Caller
    ) throws -> Changed {
        let own = row.record.alert.snooze ?? .seconds(300)
        let until = try (end ?? .after(own)).moment(from: now, of: "snooze")
        concernsOthers = true
        try audit(
            AuditDraft(
                kind: .snoozed, record: row.record, content: row.content,
                detail: EntryDetail.snoozed(until: until)), by: caller)
        try db.change(
            """
            UPDATE alerts SET snoozes = snoozes + 1, snoozed_ms = ?, snoozed_boot_ms = ?,
                snoozed_boot = ?, queued_seq = iif(presented_ms IS NULL, queued_seq, ?)
            WHERE id = ?
            """,
            .integer(until.wallMilliseconds), .integer(until.bootMilliseconds),
            .text(until.boot), .integer(head.sequence), .integer(row.record.id))
        var receipt = changed(try db.alert(row.record.id)?.record ?? row.record)
        receipt.expiry = row.expiry
        return (receipt, due: until)
    }

    /// Marks a response as collected, unless it already is.
    ///
    /// - Throws: ``AlertError/notYours(_:owner:)`` unless ``Caller/mayCollect(from:)``.
    private func collect(
        _ row: AlertRow, unused reason: String? = nil, by caller: Caller
    ) throws -> Receipt {
        var record = row.record
        guard caller.mayCollect(from: record.source.uid) else {
            throw AlertError.notYours(record.id, owner: record.source.uid)
        }
        // The collector has read an expiry that is not stored yet.
        if row.isOverdue(at: now) { record = try expire(row, by: caller) }
        guard let response = record.response, response.collectedAt == nil else {
            return Receipt(record: record, sequence: head.sequence)
        }
        try db.checkUncollected(record.id)
        try db.change(
            "UPDATE alerts SET collected_ms = ? WHERE id = ?", .integer(now.wallMilliseconds),
            .integer(record.id))
        try audit(AuditDraft(kind: .collected, record: record, detail: reason), by: caller)
        record.response = response.collected(
            at: Timestamp.date(milliseconds: now.wallMilliseconds))
        return changed(record)
    }

    private func run(
        _ step: RunStep, allowedBy row: AlertRow, by caller: Caller
    ) throws -> Receipt {
        var receipt = Receipt(record: row.record, sequence: head.sequence)
        if case .started(let allowsDefault) = step {
            guard row.record.response?.allowsRun(byDefault: allowsDefault) == true else {
                return receipt
            }
            receipt = try collect(row, by: caller)
        } else {
            // Only what was started can end.
            receipt.isNew = try db.hasStartedRun(row.record.id)
        }
        guard receipt.isNew else { return receipt }
        let content = if case .started = step { row.content } else { [UInt8]?.none }
        try audit(
            AuditDraft(
                kind: .ran, record: row.record, content: content, detail: EntryDetail.ran(step)),
            by: caller)
        receipt.sequence = head.sequence
        return receipt
    }

    private func requestCancel(
        of row: AlertRow, _ authority: Resolution.Authority, by caller: Caller
    ) throws -> Receipt {
        let record = row.record
        guard record.response == nil else {
            return Receipt(record: record, sequence: head.sequence)
        }
        let request = authority.isRequested ? try db.cancelRequest(of: record.id) : nil
        let by = try authority.resolver(of: record, owner: .system, by: caller, request)
        try audit(AuditDraft(kind: .cancelling, record: record, by: by), by: caller)
        var receipt = changed(record)
        receipt.isCancelRequested = true
        return receipt
    }

    /// Stores a note.
    func store(_ note: Note, by caller: Caller) throws {
        switch note {
        case .presented(let record, let moment):
            try db.change(
                "UPDATE alerts SET presented_ms = ? WHERE id = ?",
                .integer(moment.wallMilliseconds), .integer(record.id))
            // The hash covers what this process showed, even if the row differs by now.
            let salt =
                try db.first(
                    "SELECT salt FROM alerts WHERE id = ?", .integer(record.id)
                ) { $0.blob() } ?? nil
            let content = salt.map { AuditEntry.content(of: record.alert, salt: $0) }
            try audit(
                AuditDraft(kind: .presented, at: moment, record: record, content: content),
                by: caller)
            try db.noteTurn(of: record.id, entry: head.sequence)
        case .returned(let record, let reason):
            try audit(AuditDraft(kind: .returned, record: record, detail: reason), by: caller)
        case .collected(let id):
            guard let row = try db.alert(id) else { throw AlertError.notFound(id) }
            _ = try collect(row, by: caller)
        }
    }
}

// What becomes due.
extension WriteContext {
    /// Stores that the deadlines of the first overdue alerts have passed; returns their number.
    ///
    /// Alerts that the log contradicts are skipped: up to a thousand of them don't block the
    /// others.
    func expireOverdue(atMost limit: Int, by caller: Caller) throws -> Int {
        var (refused, expired): (Set<Alert.ID>, Int) = ([], 0)
        while refused.count <= 1000, expired < limit {
            let overdue = try db.overdue(at: now, limit: refused.count + limit - expired)
            let new = overdue.filter { !refused.contains($0) }
            guard !new.isEmpty else { break }
            for id in new {
                guard let row = try db.consistentAlert(id) else {
                    refused.insert(id)
                    continue
                }
                _ = try expire(row, by: caller)
                expired += 1
            }
        }
        return expired
    }

    /// Returns the first alerts whose snooze is over to the queue; returns their number.
    func endSnoozes(atMost limit: Int) throws -> Int {
        let awake = try db.finishedSnoozes(at: now, limit: limit)
        if !awake.isEmpty { concernsOthers = true }
        for id in awake {
            try db.change(
                """
                UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL
                WHERE id = ?
                """, .integer(id))
        }
        return awake.count
    }

    /// Stores that an alert's deadline has passed.
    func expire(_ row: AlertRow, by caller: Caller) throws -> AlertRecord {
        // Other callers may wait for the alert: this call was not about it, or not about this end.
        concernsOthers = true
        let date = Timestamp.date(milliseconds: now.wallMilliseconds)
        return try store(
            Expiry.response(to: row.record, at: date), of: row, by: caller.through("deadline"),
            detail: EntryDetail.expired(
                at: now, because: nil, isUnseen: row.record.presentedAt == nil))
    }

    /// Stores the one response of an alert, with its audit entry.
    private func store(
        _ response: Response, of row: AlertRow, by caller: Caller, detail: String? = nil
    ) throws -> AlertRecord {
        var record = row.record
        record.snoozedUntil = nil
        try audit(
            AuditDraft(
                kind: .resolved, record: record, response: response, content: row.content,
                detail: detail),
            by: caller)
        let who = response.responder
        try db.change(
            """
            UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL,
                outcome = ?, button_index = ?, resolved_by = ?, handled = ?, responder_uid = ?,
                responder = ?, via = ?, tty = ?, ssh = ?, responder_host = ?, responder_pid = ?,
                resolved_ms = ?, resolved_seq = ? WHERE id = ?
            """,
            .text(response.outcome.rawValue), .integer(response.buttonIndex),
            .text(response.by.rawValue), .integer(response.runsHandlers ? 0 : 1),
            .optional(who.map { Int64($0.uid) }), .optional(who?.user), .optional(who?.via),
            .optional(who?.tty), .optional(who?.ssh), .optional(who?.host),
            .optional(who.map { Int64($0.pid) }), .integer(now.wallMilliseconds),
            .integer(head.sequence), .integer(record.id))
        try db.changePending(of: row.sourceID, uid: record.source.uid, by: -1)
        record.state = .resolved
        record.response = response
        return record
    }
}

extension Database {
    /// Whether the log has the start of a command that an alert allowed.
    fileprivate func hasStartedRun(_ id: Alert.ID) throws -> Bool {
        try first(
            "SELECT 1 FROM audit WHERE alert_id = ? AND event = 'ran' LIMIT 1", .integer(id)
        ) { _ in true } ?? false
    }
}
