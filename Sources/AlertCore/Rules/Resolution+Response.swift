import FoundationEssentials
import TextFormats

// How a resolution ends a waiting alert; the same in every store.

/// The requester of a cancel that a screen is to carry out, according to the log.
package struct CancelRequest: Sendable {
    package let by: ResolvedBy
    package let caller: Caller

    package init(by: ResolvedBy, caller: Caller) {
        self.by = by
        self.caller = caller
    }
}

extension Resolution.Actor {
    fileprivate var resolvedBy: ResolvedBy {
        switch self {
        case .person: .person
        case .program: .program
        }
    }
}

extension Resolution.Authority {
    /// Whether the authority is that of the account that requested the cancel.
    package var isRequested: Bool { self == .requested }

    /// Who is recorded as having ended an alert: `owner` if the caller belongs to the account that
    /// asked, else the actor.
    ///
    /// - Parameter request: The request from the log, if ``isRequested``.
    /// - Throws: ``AlertError/notYours(_:owner:)`` for another account's alert, unless by root or
    ///   forced.
    package func resolver(
        of record: AlertRecord, owner: ResolvedBy, by caller: Caller, _ request: CancelRequest?
    ) throws(AlertError) -> ResolvedBy {
        try check(record, caller)
        switch self {
        case .requested: return request?.by ?? owner
        case .own(let actor), .forced(let actor):
            return caller.isAsker(record.source) ? owner : actor.resolvedBy
        }
    }
}

extension Resolution {
    /// Whether the request in the log is needed to carry it out.
    package var isRequested: Bool {
        switch self {
        case .cancel(_, let authority), .withdraw(let authority, _, _): authority.isRequested
        case .choose, .chooseID, .dismiss, .expireUnattended: false
        }
    }

    /// Whether it has no effect on an alert for which somebody waits.
    package var isOnlyForOrphans: Bool {
        if case .withdraw(_, _, onlyIfOrphaned: true) = self { true } else { false }
    }

    /// The caller on whose behalf an alert is ended: for a cancel that a screen carries out, the
    /// requester.
    package func actor(by caller: Caller, _ request: CancelRequest?) -> Caller {
        guard case .cancel(_, .requested) = self else { return caller }
        return request?.caller ?? caller
    }

    /// What the audit log records of an alert's response beside its columns.
    package func detail(
        of record: AlertRecord, _ response: Response, at now: ClockReading
    ) -> EntryDetail? {
        switch self {
        case .expireUnattended:
            .expired(.init(at: now, isEarly: true, isUnseen: record.presentedAt == nil))
        case .cancel(let isHandled, _): .cancelled(isHandled: isHandled)
        case .choose, .chooseID, .withdraw:
            EntryDetail.Answered(
                response, of: record, givenAt: record.alert.limits(response) ? now : nil
            ).map(EntryDetail.answered)
        case .dismiss: nil
        }
    }

    /// The response that the resolution gives a waiting alert.
    ///
    /// - Parameters:
    ///   - caller: The caller on whose behalf it is ended, from ``actor(by:_:)``.
    ///   - request: The request from the log, if ``isRequested``.
    /// - Throws: ``AlertError/noSuchButton(_:button:known:)``, ``AlertError/invalid(_:_:)`` for
    ///   what the alert does not offer, and ``AlertError/notYours(_:owner:)``.
    package func response(
        to record: AlertRecord, at now: ClockReading, by caller: Caller, _ request: CancelRequest?
    ) throws(AlertError) -> Response {
        let (alert, responder) = (record.alert, caller.recorded)
        switch self {
        case .chooseID(let id, let actor, let input):
            let index = alert.buttonIndex(id: id)
            guard index >= 0 else {
                throw .noSuchButton(record.id, button: id, known: alert.buttons.map(\.id))
            }
            return try record.answer(index, actor, responder, input, at: now)
        case .choose(let index?, let actor, let input):
            guard alert.buttons.indices.contains(index) else {
                throw .noSuchButton(
                    record.id, button: "#\(index)", known: alert.buttons.map(\.id))
            }
            return try record.answer(index, actor, responder, input, at: now)
        case .choose(nil, let actor, let input):
            guard alert.buttons.isEmpty else {
                throw .invalid("choice", "is missing: alert \(record.id) has buttons")
            }
            let input = try alert.completed(input, buttonAt: nil)
            return record.response(
                .dismissed, -1, actor.resolvedBy, responder, at: now, input: input)
        case .dismiss:
            guard alert.buttons.isEmpty else {
                throw .invalid("dismissal", "is refused: alert \(record.id) has buttons")
            }
            // A timer has no responder: only the audit log records the process that stored it.
            return record.response(.dismissed, -1, .system, nil, at: now)
        case .cancel(let isHandled, let authority):
            let by = try authority.resolver(of: record, owner: .system, by: caller, request)
            return record.response(
                .cancelled, alert.cancelButtonIndex, by, responder, at: now,
                CancelHandling(isHandled: isHandled))
        case .withdraw(let authority, let reason, _):
            if let reason { try Text.check(reason, "reason", limit: Alert.Limit.reason) }
            let by = try authority.resolver(of: record, owner: .asker, by: caller, request)
            return record.response(
                .withdrawn, -1, by, responder, at: now, input: Alert.Input(note: reason))
        case .expireUnattended:
            guard alert.defaultButton != nil else {
                throw .invalid("expiry", "is refused: alert \(record.id) has no default button")
            }
            return Expiry.response(
                to: record, at: Timestamp.date(milliseconds: now.wallMilliseconds))
        }
    }
}

extension AlertRecord {
    fileprivate func answer(
        _ index: Int, _ actor: Resolution.Actor, _ responder: Caller, _ input: Alert.Input,
        at now: ClockReading
    ) throws(AlertError) -> Response {
        let input = try alert.completed(input, buttonAt: index)
        return response(.answered, index, actor.resolvedBy, responder, at: now, input: input)
    }

    /// The response of an alert in whose place its asker asks another one.
    func withdrawal(at now: ClockReading, _ asker: Caller) -> Response {
        response(.withdrawn, -1, .asker, asker, at: now)
    }

    fileprivate func response(
        _ outcome: Outcome, _ index: Int, _ by: ResolvedBy, _ responder: Caller?,
        at now: ClockReading, _ cancelHandling: CancelHandling? = nil,
        input: Alert.Input = Alert.Input()
    ) -> Response {
        Response(
            alertID: id, outcome: outcome, buttonIndex: index,
            button: index >= 0 ? alert.buttons[index] : nil, by: by, responder: responder,
            resolvedAt: Timestamp.date(milliseconds: now.wallMilliseconds), collectedAt: nil,
            userInfo: alert.userInfo, cancelHandling: cancelHandling, input: input)
    }
}
