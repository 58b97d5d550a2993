import FoundationEssentials
import SQLite

// What a resolution makes of an alert that waits.

extension Resolution.Actor {
    var resolvedBy: ResolvedBy {
        switch self {
        case .person: .person
        case .program: .program
        }
    }
}

extension WriteContext {
    /// Who is recorded as having ended an alert: the owner's word for a caller of the account that
    /// asked, else whoever acts.
    ///
    /// - Throws: ``AlertError/notYours(_:owner:)`` for another account's alert, unless root or
    ///   force is at work.
    func resolver(
        of record: AlertRecord, _ authority: Resolution.Authority, owner: ResolvedBy,
        by caller: Caller
    ) throws -> ResolvedBy {
        try authority.check(record, caller)
        switch authority {
        case .requested:
            return try db.cancelRequest(of: record.id)?.by ?? owner
        case .own(let actor), .forced(let actor):
            return caller.isAsker(record.source) ? owner : actor.resolvedBy
        }
    }

    /// On whose behalf an alert is ended: for the cancel that a screen carries out, on behalf of
    /// whoever requested it.
    func actor(for resolution: Resolution, of id: Alert.ID, by caller: Caller) throws -> Caller {
        guard case .cancel(_, .requested) = resolution else { return caller }
        return try db.cancelRequest(of: id)?.caller ?? caller
    }
}

extension Resolution {
    /// What the audit log tells besides the response.
    func detail(of record: AlertRecord, at now: ClockReading) -> String? {
        switch self {
        case .expireUnattended:
            EntryDetail.expired(
                at: now, because: EntryDetail.nobodyThere, isUnseen: record.presentedAt == nil)
        case .cancel(let isHandled, _): EntryDetail.cancelled(isHandled: isHandled)
        case .choose, .chooseID, .dismiss, .withdraw: nil
        }
    }
}

extension WriteContext {
    /// The response that a resolution gives an alert that still waits.
    func response(
        to record: AlertRecord, _ resolution: Resolution, by caller: Caller
    ) throws -> Response {
        let alert = record.alert
        let responder = caller.responder
        switch resolution {
        case .chooseID(let id, let actor):
            let index = alert.buttonIndex(id: id)
            guard index >= 0 else {
                throw AlertError.noSuchButton(record.id, button: id, known: alert.buttons.map(\.id))
            }
            return make(.answered, index, actor.resolvedBy, responder, record)
        case .choose(let index?, let actor):
            guard alert.buttons.indices.contains(index) else {
                throw AlertError.noSuchButton(
                    record.id, button: "#\(index)", known: alert.buttons.map(\.id))
            }
            return make(.answered, index, actor.resolvedBy, responder, record)
        case .choose(nil, let actor):
            guard alert.buttons.isEmpty else {
                throw AlertError.invalid("choice", "is missing: alert \(record.id) has buttons")
            }
            return make(.dismissed, -1, actor.resolvedBy, responder, record)
        case .dismiss:
            guard alert.buttons.isEmpty else {
                throw AlertError.invalid("dismissal", "is refused: alert \(record.id) has buttons")
            }
            // A timer is nobody: who stored it stands in the audit log only.
            return make(.dismissed, -1, .system, nil, record)
        case .cancel(let isHandled, let authority):
            let by = try resolver(of: record, authority, owner: .system, by: caller)
            return make(
                .cancelled, alert.cancelButtonIndex, by, responder, record,
                CancelHandling(isHandled: isHandled))
        case .withdraw(let authority):
            let by = try resolver(of: record, authority, owner: .asker, by: caller)
            return make(.withdrawn, -1, by, responder, record)
        case .expireUnattended:
            guard alert.defaultButton != nil else {
                throw AlertError.invalid(
                    "expiry", "is refused: alert \(record.id) has no default button")
            }
            return Expiry.response(
                to: record, at: Timestamp.date(milliseconds: now.wallMilliseconds))
        }
    }

    private func make(
        _ outcome: Outcome, _ index: Int, _ by: ResolvedBy, _ responder: Responder?,
        _ record: AlertRecord, _ cancelHandling: CancelHandling? = nil
    ) -> Response {
        Response(
            alertID: record.id, outcome: outcome, buttonIndex: index,
            button: index >= 0 ? record.alert.buttons[index] : nil, by: by, responder: responder,
            resolvedAt: Timestamp.date(milliseconds: now.wallMilliseconds), collectedAt: nil,
            userInfo: record.alert.userInfo, cancelHandling: cancelHandling)
    }
}
