import AlertCore
import FoundationEssentials
import SQLite

extension SQLiteAlertStore {
    nonisolated(nonsending) func storeResponse(
        _ id: Alert.ID, _ resolution: Resolution, seen: [UInt8]?, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        let attempt = try await commits.perform(.answer, "store the response") {
            [keeper = self.caller] context -> Attempt<Receipt> in
            guard let row = try context.db.checkedAlert(id) else { throw AlertError.notFound(id) }
            if let response = row.record.response { throw AlertError.alreadyResolved(response) }
            guard !row.isOverdue(at: context.now) else {
                return .late(try context.expire(row, by: keeper))
            }
            guard seen == nil || seen == row.content else { throw AlertError.notAsSeen(id) }
            let actor = try context.actor(for: resolution, of: id, by: caller)
            let response = try context.response(to: row.record, resolution, by: actor)
            let record = try context.store(
                response, of: row, by: actor,
                detail: resolution.detail(of: row.record, at: context.now))
            return .done(context.receipt(of: record))
        }
        return try attempt.result()
    }

    nonisolated(nonsending) func storeExpiry(
        _ id: Alert.ID, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        try await commits.perform(.answer, "store the expiry") { context in
            guard let row = try context.db.checkedAlert(id) else { throw AlertError.notFound(id) }
            guard row.isOverdue(at: context.now) else {
                return Receipt(
                    record: row.record, expiry: row.expiry, sequence: context.head.sequence)
            }
            return context.receipt(of: try context.expire(row, by: caller))
        }
    }

    /// Stores overdue expiries and ends finished snoozes, in bounded batches.
    nonisolated(nonsending) func sweep(atMost batches: Int) async throws(AlertError) {
        var (goesOn, left) = (true, batches)
        while goesOn, left > 0 {
            left -= 1
            goesOn = try await commits.perform(.upkeep, "store expiries", isOptional: true) {
                [caller] context in
                let expired = try context.expireOverdue(atMost: 100, by: caller)
                let awake = try context.db.finishedSnoozes(at: context.now, limit: 500)
                if !awake.isEmpty { context.concernsOthers = true }
                for id in awake {
                    try context.db.change(
                        """
                        UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL,
                            snoozed_boot = NULL WHERE id = ?
                        """, .integer(id))
                }
                return expired == 100 || awake.count == 500
            }
        }
    }

    /// Stores a few overdue expiries in the space reserved for answers, if a sweep finds no other.
    nonisolated(nonsending) func sweepInReserve() async throws(AlertError) {
        try await commits.perform(.answer, "store expiries") { [caller] context in
            _ = try context.expireOverdue(atMost: 10, by: caller)
        }
    }

    nonisolated(nonsending) func storeSnooze(
        _ id: Alert.ID, until end: Alert.Deadline?, by caller: Caller
    ) async throws(AlertError) -> (Receipt, end: ClockReading) {
        if case .after(let duration)? = end { try Alert.check(duration, "snooze") }
        let attempt = try await commits.perform(.upkeep, "store the snooze") {
            [keeper = self.caller] context -> Attempt<(Receipt, end: ClockReading)> in
            guard let row = try context.db.checkedAlert(id) else { throw AlertError.notFound(id) }
            if let response = row.record.response { throw AlertError.alreadyResolved(response) }
            guard !row.isOverdue(at: context.now) else {
                return .late(try context.expire(row, by: keeper))
            }
            let own = row.record.alert.snooze ?? .seconds(300)
            let until = try (end ?? .after(own)).moment(from: context.now, of: "snooze")
            context.concernsOthers = true
            try context.audit(
                AuditDraft(
                    kind: .snoozed, record: row.record, content: row.content,
                    detail: EntryDetail.snoozed(until: until)),
                by: caller)
            try context.db.change(
                """
                UPDATE alerts SET snoozes = snoozes + 1, snoozed_ms = ?, snoozed_boot_ms = ?,
                    snoozed_boot = ?, queued_seq = iif(presented_ms IS NULL, queued_seq, ?)
                WHERE id = ?
                """,
                .integer(until.wallMilliseconds), .integer(until.bootMilliseconds),
                .text(until.boot), .integer(context.head.sequence), .integer(id))
            var receipt = context.receipt(of: try context.db.alert(id)?.record ?? row.record)
            receipt.expiry = row.expiry
            return .done((receipt, end: until))
        }
        return try attempt.result()
    }

    nonisolated(nonsending) func storeCollection(
        _ id: Alert.ID, unused reason: String?, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        try await commits.perform(.answer, "mark the response as collected") { context in
            guard try context.db.checkedAlert(id) != nil else { throw AlertError.notFound(id) }
            let isNew = try context.collect(id, unused: reason, by: caller)
            guard let row = try context.db.alert(id) else { throw AlertError.notFound(id) }
            return Receipt(record: row.record, isNew: isNew, sequence: context.head.sequence)
        }
    }

    nonisolated(nonsending) func storeCancelRequest(
        _ id: Alert.ID, _ authority: Resolution.Authority, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        try await commits.perform(.answer, "store the cancel") { context in
            guard let row = try context.db.checkedAlert(id) else { throw AlertError.notFound(id) }
            guard row.record.response == nil else {
                return Receipt(record: row.record, sequence: context.head.sequence)
            }
            let by = try context.resolver(
                of: row.record, authority, owner: .system, by: caller)
            try context.audit(AuditDraft(kind: .cancelling, record: row.record, by: by), by: caller)
            var receipt = context.receipt(of: row.record)
            receipt.isCancelRequested = true
            return receipt
        }
    }

    func postCollected(_ id: Alert.ID, by caller: Caller) {
        commits.deferWrite("mark the response as collected") { context in
            _ = try context.collect(id, by: caller)
        }
    }

    func postPresented(_ record: AlertRecord, at moment: ClockReading, by caller: Caller) {
        commits.deferWrite("record the presentation") { context in
            try context.db.change(
                "UPDATE alerts SET presented_ms = ? WHERE id = ?",
                .integer(moment.wallMilliseconds), .integer(record.id))
            // The hash covers what this process showed, even if the row differs by now.
            let salt = try context.db.salt(of: record.id)
            let content = salt.map { AuditEntry.content(of: record.alert, salt: $0) }
            try context.audit(
                AuditDraft(
                    kind: .presented, at: moment, record: record, content: content),
                by: caller)
            try context.db.noteTurn(of: record.id, entry: context.head.sequence)
        }
    }

    func postReturned(_ record: AlertRecord, because reason: String, by caller: Caller) {
        commits.deferWrite("record the return") { context in
            try context.audit(
                AuditDraft(kind: .returned, record: record, detail: reason), by: caller)
        }
    }
}

extension WriteContext {
    /// The receipt of a change that has been made to an alert.
    fileprivate func receipt(of record: AlertRecord) -> Receipt {
        Receipt(record: record, isNew: true, sequence: head.sequence)
    }

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
    fileprivate func store(
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
        try changePending(of: row.sourceID, uid: record.source.uid, by: -1)
        record.state = .resolved
        record.response = response
        return record
    }

    /// Marks a response as collected; returns whether it was not marked before.
    ///
    /// - Throws: ``AlertError/notYours(_:owner:)`` unless ``Caller/mayCollect(from:)``.
    func collect(
        _ id: Alert.ID, unused reason: String? = nil, by caller: Caller
    ) throws -> Bool {
        guard let source = try db.source(of: id) else { throw AlertError.notFound(id) }
        guard caller.mayCollect(from: source.uid) else {
            throw AlertError.notYours(id, owner: source.uid)
        }
        var isCollected = try markCollected(id)
        if !isCollected, let row = try db.checkedAlert(id), row.isOverdue(at: now) {
            // The collector has read an expiry that is not stored yet.
            _ = try expire(row, by: caller)
            isCollected = try markCollected(id)
        }
        guard isCollected else { return false }
        var draft = AuditDraft(kind: .collected, alert: id, source: source.name)
        draft.detail = reason
        try audit(draft, by: caller)
        return true
    }

    private func markCollected(_ id: Alert.ID) throws -> Bool {
        let isUncollected = try db.first(
            "SELECT outcome IS NOT NULL AND collected_ms IS NULL FROM alerts WHERE id = ?",
            .integer(id)
        ) { $0.integer() == 1 }
        guard isUncollected == true else { return false }
        try db.checkUncollected(id)
        try db.change(
            "UPDATE alerts SET collected_ms = ? WHERE id = ?", .integer(now.wallMilliseconds),
            .integer(id))
        return true
    }
}

extension Database {
    /// The salt of an alert's hashes; `nil` once its texts have been erased.
    fileprivate func salt(of id: Alert.ID) throws -> [UInt8]? {
        try first("SELECT salt FROM alerts WHERE id = ?", .integer(id)) { $0.blob() } ?? nil
    }

    /// The name and the account of an alert's source; `nil` for an alert that does not exist.
    fileprivate func source(of id: Alert.ID) throws -> (name: String, uid: UInt32)? {
        try first(
            """
            SELECT name, uid FROM alerts JOIN sources ON sources.id = source_id WHERE alerts.id = ?
            """, .integer(id)
        ) { ($0.text(), UInt32(truncatingIfNeeded: $0.integer(at: 1))) }
    }
}
