import FoundationEssentials
import SQLite

extension SQLiteAlertStore {
    package nonisolated(nonsending) func resolve(
        _ id: Alert.ID, _ resolution: Resolution
    ) async throws(AlertError) -> AlertRecord {
        let result = try await commits.perform(.answer, "store the response") {
            [identity] context -> Resolved in
            guard let row = try context.db.alert(id) else { throw AlertError.notFound(id) }
            if let response = row.record.response { throw AlertError.alreadyResolved(response) }
            guard !row.isOverdue(at: context.now) else {
                // Too late; but this is a write, and so the expiry is stored.
                return Resolved(record: try context.expire(row, identity: identity), isLate: true)
            }
            let response = try resolution.response(to: row.record, at: context.now)
            var isHandled = false
            if case .cancel(true, _) = resolution { isHandled = true }
            let record = try context.store(
                response, of: row, responder: resolution.responder, isHandled: isHandled,
                detail: resolution.detail, identity: identity)
            return Resolved(record: record, isLate: false)
        }
        guard !result.isLate else {
            guard let response = result.record.response else { throw .notFound(id) }
            throw .late(response)
        }
        return result.record
    }

    package nonisolated(nonsending) func expire(_ id: Alert.ID) async throws(AlertError)
        -> AlertRecord
    {
        try await commits.perform(.answer, "store the expiry") { [identity] context in
            guard let row = try context.db.alert(id) else { throw AlertError.notFound(id) }
            guard row.isOverdue(at: context.now) else { return row.record }
            return try context.expire(row, identity: identity)
        }
    }

    package nonisolated(nonsending) func sweep(atMost batches: Int) async throws(AlertError) {
        var (goesOn, left) = (true, batches)
        while goesOn, left > 0 {
            left -= 1
            goesOn = try await commits.perform(.upkeep, "store expiries", isOptional: true) {
                [identity] context in
                let overdue = try context.db.overdue(at: context.now, limit: 100)
                for id in overdue {
                    guard let row = try context.db.alert(id) else { continue }
                    _ = try context.expire(row, identity: identity)
                }
                let awake = try context.db.finishedSnoozes(at: context.now, limit: 500)
                if !awake.isEmpty { context.isQuiet = false }
                for id in awake {
                    try context.db.run(
                        """
                        UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL,
                            snoozed_boot = NULL WHERE id = ?
                        """, .integer(id))
                }
                return overdue.count == 100 || awake.count == 500
            }
        }
    }

    package nonisolated(nonsending) func sweepInReserve() async throws(AlertError) {
        try await commits.perform(.answer, "store expiries") { [identity] context in
            for id in try context.db.overdue(at: context.now, limit: 10) {
                guard let row = try context.db.alert(id) else { continue }
                _ = try context.expire(row, identity: identity)
            }
        }
    }

    package nonisolated(nonsending) func snooze(
        _ id: Alert.ID, for duration: Duration?, by responder: Responder
    ) async throws(AlertError) -> AlertRecord {
        if let duration { try Alert.check(duration, "snooze") }
        return try await commits.perform(.upkeep, "store the snooze") { [identity] context in
            guard let row = try context.db.alert(id) else { throw AlertError.notFound(id) }
            if let response = row.record.response { throw AlertError.alreadyResolved(response) }
            guard !row.isOverdue(at: context.now) else {
                throw AlertError.late(row.expiryResponse(at: context.now))
            }
            let until = context.now.advanced(
                by: duration ?? row.record.alert.snooze ?? .seconds(300))
            try context.db.run(
                """
                UPDATE alerts SET snoozes = snoozes + 1, snoozed_ms = ?, snoozed_boot_ms = ?,
                    snoozed_boot = ? WHERE id = ?
                """,
                .integer(until.wallMilliseconds), .integer(until.bootMilliseconds),
                .text(until.boot), .integer(id))
            let end = Timestamp.text(Timestamp.date(milliseconds: until.wallMilliseconds))
            context.isQuiet = false
            try context.audit(
                AuditDraft(
                    kind: .snoozed, record: row.record, responder: responder,
                    content: row.content, detail: "until \(end)"),
                identity: identity)
            return try context.db.alert(id)?.record ?? row.record
        }
    }

    package func collect(_ id: Alert.ID, by responder: Responder) {
        commits.ride("mark the response as collected") { [identity] context in
            _ = try context.collect(id, by: responder, identity: identity)
        }
    }

    package nonisolated(nonsending) func collectNow(
        _ id: Alert.ID, by responder: Responder
    ) async throws(AlertError) -> Bool {
        try await commits.perform(.answer, "mark the response as collected") {
            [identity] context in
            try context.collect(id, by: responder, identity: identity)
        }
    }

    package nonisolated(nonsending) func requestCancel(_ id: Alert.ID) async throws(AlertError) {
        try await commits.perform(.answer, "store the cancel") { context in
            try context.db.run(
                "UPDATE alerts SET cancel_requested = 1 WHERE id = ? AND state = 'queued'",
                .integer(id))
        }
    }

    package func recordPresented(
        _ record: AlertRecord, at moment: ClockReading, by responder: Responder
    ) {
        commits.ride("record the presentation") { [identity] context in
            try context.db.run(
                "UPDATE alerts SET presented_ms = ? WHERE id = ?",
                .integer(moment.wallMilliseconds), .integer(record.id))
            // The hash is of what this process showed, whatever the row says by now.
            let salt = try context.db.salt(of: record.id)
            let content = salt.map { AuditEntry.content(of: record.alert, salt: $0) }
            try context.audit(
                AuditDraft(
                    kind: .presented, at: moment, record: record, responder: responder,
                    content: content),
                identity: identity)
        }
    }

    package func recordReturned(
        _ record: AlertRecord, because reason: String, by responder: Responder
    ) {
        commits.ride("record the return") { [identity] context in
            try context.audit(
                AuditDraft(
                    kind: .returned, record: record, responder: responder, detail: reason),
                identity: identity)
        }
    }
}

/// What became of a resolution.
private struct Resolved: Sendable {
    let record: AlertRecord
    let isLate: Bool
}

extension AlertRow {
    /// The salted hash of what the row asks; `nil` once its texts have been erased.
    var content: [UInt8]? {
        salt.map { AuditEntry.content(of: record.alert, salt: $0) }
    }

    fileprivate func expiryResponse(at now: ClockReading) -> Response {
        Expiry.response(to: record, at: Timestamp.date(milliseconds: now.wallMilliseconds))
    }
}

extension WriteContext {
    /// Stores that an alert's deadline has passed.
    func expire(_ row: AlertRow, identity: Identity) throws -> AlertRecord {
        // Others may wait for the alert, and this call was not about it, or not about this end.
        isQuiet = false
        return try store(
            row.expiryResponse(at: now), of: row,
            responder: identity.responder(via: "deadline"), isHandled: false, identity: identity)
    }

    /// Stores the one response of an alert, with its audit entry.
    fileprivate func store(
        _ response: Response, of row: AlertRow, responder: Responder, isHandled: Bool,
        detail: String? = nil, identity: Identity
    ) throws -> AlertRecord {
        var record = row.record
        record.snoozedUntil = nil
        let who = response.responder
        try db.run(
            """
            INSERT INTO responses (alert_id, source, key, handler, outcome, button, button_index,
                resolved_by, handled, uid, user, via, tty, ssh, host, pid, resolved_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(record.id), .text(record.source.name), .optional(record.alert.key),
            .optional(record.alert.handler), .text(response.outcome.rawValue),
            .optional(response.button?.id), .integer(response.buttonIndex),
            .text(response.by.rawValue), .integer(isHandled ? 1 : 0),
            .optional(who.map { Int64($0.uid) }), .optional(who?.user), .optional(who?.via),
            .optional(who?.tty), .optional(who?.ssh), .optional(who?.host),
            .optional(who.map { Int64($0.pid) }), .integer(now.wallMilliseconds))
        try db.run(
            """
            UPDATE alerts SET state = 'resolved', snoozed_ms = NULL, snoozed_boot_ms = NULL,
                snoozed_boot = NULL WHERE id = ?
            """, .integer(record.id))
        changePending(of: row.sourceID, by: -1)
        try audit(
            AuditDraft(
                kind: .resolved, record: record, response: response, responder: responder,
                content: row.content, detail: detail),
            identity: identity)
        record.state = .resolved
        record.response = response
        return record
    }

    fileprivate func collect(
        _ id: Alert.ID, by responder: Responder, identity: Identity
    ) throws -> Bool {
        var isCollected = try markCollected(id)
        if !isCollected, let row = try db.alert(id), row.isOverdue(at: now) {
            // Whoever collects has read that it expired, which nobody had stored yet.
            _ = try expire(row, identity: identity)
            isCollected = try markCollected(id)
        }
        guard let source = try db.sourceName(of: id) else { throw AlertError.notFound(id) }
        guard isCollected else { return false }
        try audit(
            AuditDraft(kind: .collected, alert: id, source: source, responder: responder),
            identity: identity)
        return true
    }

    private func markCollected(_ id: Alert.ID) throws -> Bool {
        try db.run(
            "UPDATE responses SET collected_ms = ? WHERE alert_id = ? AND collected_ms IS NULL",
            .integer(now.wallMilliseconds), .integer(id))
        return db.changes == 1
    }
}

extension Resolution {
    /// What the audit log tells besides the response.
    fileprivate var detail: String? {
        if case .expireUnattended = self { "nobody was there" } else { nil }
    }

    /// The response that this resolution gives an alert that still waits.
    fileprivate func response(
        to record: AlertRecord, at now: ClockReading
    ) throws(AlertError) -> Response {
        let alert = record.alert
        switch self {
        case .chooseID(let id, let responder):
            let index = alert.buttonIndex(id: id)
            guard index >= 0 else {
                throw .noSuchButton(record.id, button: id, known: alert.buttons.map(\.id))
            }
            return make(.answered, index, .person, responder, record, now)
        case .choose(let index?, let responder):
            guard alert.buttons.indices.contains(index) else {
                throw .noSuchButton(
                    record.id, button: "#\(index)", known: alert.buttons.map(\.id))
            }
            return make(.answered, index, .person, responder, record, now)
        case .choose(nil, let responder):
            guard alert.buttons.isEmpty else {
                throw .invalid("choice", "is missing: alert \(record.id) has buttons")
            }
            return make(.dismissed, -1, .person, responder, record, now)
        case .dismiss:
            guard alert.buttons.isEmpty else {
                throw .invalid("dismissal", "is refused: alert \(record.id) has buttons")
            }
            // A timer is nobody: who stored it stands in the audit log only.
            return make(.dismissed, -1, .system, nil, record, now)
        case .cancel(_, let responder):
            return make(.cancelled, alert.cancelButtonIndex, .system, responder, record, now)
        case .withdraw(let responder):
            return make(.withdrawn, -1, .asker, responder, record, now)
        case .expireUnattended:
            guard alert.defaultButton != nil else {
                throw .invalid("expiry", "is refused: alert \(record.id) has no default button")
            }
            return Expiry.response(
                to: record, at: Timestamp.date(milliseconds: now.wallMilliseconds))
        }
    }

    private func make(
        _ outcome: Outcome, _ index: Int, _ by: ResolvedBy, _ responder: Responder?,
        _ record: AlertRecord, _ now: ClockReading
    ) -> Response {
        Response(
            alertID: record.id, outcome: outcome, buttonIndex: index,
            button: index >= 0 ? record.alert.buttons[index] : nil, by: by, responder: responder,
            resolvedAt: Timestamp.date(milliseconds: now.wallMilliseconds), collectedAt: nil,
            userInfo: record.alert.userInfo)
    }
}
