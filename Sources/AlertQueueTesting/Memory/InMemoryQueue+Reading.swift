import AlertCore
import TextFormats

// The queries of a queue in memory.
extension InMemoryQueue {
    func find(_ reference: AlertReference, at now: ClockReading) throws(AlertError) -> Receipt {
        let alert: InMemoryAlert
        switch reference {
        case .id(let id):
            guard let found = self.alert(id) else { throw .notFound(id) }
            alert = found
        case .key(let key, let source, let principal):
            guard let found = self.alert(key: key, source: source, of: principal) else {
                throw .keyNotFound(key)
            }
            alert = found
        }
        return Receipt(
            record: alert.visible(at: now),
            isCancelRequested: isCancelRequested(alert), timeLeft: alert.expiry.map(now.time),
            head: log.head)
    }

    /// Who last requested that a screen cancel an alert; `nil` if there is no request.
    func cancelRequest(of id: Alert.ID) -> CancelRequest? {
        guard let entry = log.last(.cancelling, of: id) else { return nil }
        return entry.event.by.map { CancelRequest(by: $0, caller: entry.caller) }
    }

    private func isCancelRequested(_ alert: InMemoryAlert) -> Bool {
        alert.response == nil && cancelRequest(of: alert.id) != nil
    }

    /// The alert to show next.
    func next(_ query: ScreenQuery, at now: ClockReading) -> Upcoming {
        let next = upcoming(query, at: now)
        var upcoming = Upcoming(
            record: next?.record.current(at: now), timeLeft: next?.expiry.map(now.time))
        upcoming.isCancelRequested = next.map(isCancelRequested) ?? false
        upcoming.waiting = ready(besides: next?.id ?? 0)
        return upcoming
    }

    private func upcoming(_ query: ScreenQuery, at now: ClockReading) -> InMemoryAlert? {
        let except = Set(query.except)
        let ready = waiting.filter { $0.isReady && !except.contains($0.id) }
        guard !query.presenters.isEmpty else {
            return query.firstOwn(of: ready.map(\.record)).flatMap(alert)
        }
        let candidates = ready.filter { alert in
            alert.alert.mayBeShown(by: query.presenters) || query.own.contains(alert.id)
        }
        if query.prefersQuestions,
            let question = turns.first(of: candidates.filter(\.isQuestion), at: now)
        {
            return question
        }
        return turns.first(of: candidates, at: now)
    }

    /// How many alerts could be shown now besides one, counted up to 1,000.
    func ready(besides id: Alert.ID) -> WaitingAlerts {
        let ready = waiting.filter { $0.isReady && $0.id != id }
        return WaitingAlerts(
            count: min(1000, ready.count),
            critical: min(1000, ready.count { $0.alert.priority == .critical }))
    }

    func pendingCount(at now: ClockReading) -> Int {
        waiting.count { !$0.isOverdue(at: now) }
    }

    /// The earliest deadline or end of a snooze; `nil` if there is none.
    func nextDue(at now: ClockReading) -> ClockReading? {
        now.earliest(of: waiting.flatMap { [$0.expiry, $0.snoozedUntil] }.compactMap(\.self))
    }

    /// Entries of the log, with the fields that come from their alerts.
    func entries(_ query: LogQuery) throws(AlertError) -> [AuditEntry] {
        try log.entries(query).map { entry in
            var entry = entry
            guard let stored = entry.event.alertID.flatMap(self.alert) else { return entry }
            let alert = stored.alert
            if entry.event.kind == .resolved { entry.note = stored.response?.note }
            entry.event.title = alert.title
            entry.event.key = alert.key
            let index = entry.event.buttonIndex ?? -1
            let button = alert.buttons.indices.contains(index) ? alert.buttons[index] : nil
            (entry.button, entry.label) = (button?.id, button?.title)
            return entry
        }
    }

    /// An event of the log, with the fields that come from its alert.
    func event(_ line: InMemoryLog.Line) -> AlertEvent {
        var event = line.entry.event
        let alert = event.alertID.flatMap(alert)?.alert
        event.title = alert?.title
        event.key = alert?.key
        return event
    }
}

// MARK: - Pages

extension InMemoryQueue {
    func page(_ query: RecordQuery, at now: ClockReading) throws(AlertError) -> RecordPage {
        var page = try stored(query, at: now)
        page.records = page.records.map { $0.current(at: now) }
        return page
    }

    private func stored(_ query: RecordQuery, at now: ClockReading) throws(AlertError) -> RecordPage
    {
        let records: [AlertRecord]
        switch query.kind {
        case .waiting(let source, let orOverdue):
            records = try waiting(
                of: source, orOverdue, after: query.after, query.limit, at: now)
        case .history(let filter):
            records = try history(filter, after: query.after, query.limit)
        case .awaitingHandler(let name):
            records = Array(
                responses(after: query.after.flatMap(alert)?.resolvedSequence ?? 0).lazy.map(
                    \.record
                )
                .filter { $0.isUncollected && $0.alert.handler.isIdentical(to: name) }
                .prefix(query.limit))
        case .awaitingHook(let filter):
            return try awaitingHook(filter, after: query.after ?? 0, query.limit)
        }
        return RecordPage(
            records: records, next: records.last?.id ?? query.after,
            isEnd: records.count < query.limit)
    }

    /// The alerts that have ended after an entry of the log, in its order.
    private func responses(after sequence: Int64) -> [InMemoryAlert] {
        resolved.compactMap(alert).filter { ($0.resolvedSequence ?? 0) > sequence }
    }

    private func waiting(
        of source: String?, _ orOverdue: Bool, after last: Alert.ID?, _ limit: Int,
        at now: ClockReading
    ) throws(AlertError) -> [AlertRecord] {
        let start = try last.map { id throws(AlertError) in
            guard let alert = alert(id) else { throw .notFound(id) }
            return alert
        }
        let candidates = waiting.filter { alert in
            (orOverdue || !alert.isOverdue(at: now))
                && (source.map(alert.source.name.isIdentical) ?? true)
        }
        // A snooze that is over has ended, whether or not that is stored.
        let snooze = { (alert: InMemoryAlert) in
            alert.snoozedUntil.flatMap { now.isAtOrAfter($0) ? nil : $0.wallMilliseconds }
        }
        var found: [InMemoryAlert] = []
        if start.flatMap(snooze) == nil {
            let ready = candidates.filter { alert in
                guard snooze(alert) == nil else { return false }
                guard let start else { return true }
                // Within a priority they are ordered by id, no matter how the clock was set.
                return start.alert.priority == alert.alert.priority
                    ? alert.id > start.id : start.position.comes(before: alert.position, at: now)
            }
            found = Alert.Priority.allCases
                .flatMap { priority in ready.filter { $0.alert.priority == priority }.prefix(limit)
                }
                .sorted { $0.position.comes(before: $1.position, at: now) }
        }
        let end = start.flatMap { start in
            snooze(start).map { ($0, start.id) }
        }
        let snoozed = candidates.compactMap { alert in
            snooze(alert).map { (key: ($0, alert.id), alert: alert) }
        }
        found += snoozed.filter { one in end.map { $0 < one.key } ?? true }
            .sorted { $0.key < $1.key }.map(\.alert)
        return found.prefix(limit).map { $0.visible(at: now) }
    }

    private func history(
        _ filter: HistoryFilter, after last: Alert.ID?, _ limit: Int
    ) throws(AlertError) -> [AlertRecord] {
        let text = try filter.text.map { text throws(AlertError) in try SearchText(text) }
        let after = try last.map { id throws(AlertError) in
            guard let sequence = alert(id)?.resolvedSequence else { throw .notFound(id) }
            return sequence
        }
        let admitted = responses(after: 0)
            .map { (number: $0.resolvedSequence ?? 0, record: $0.record) }
            .filter { one in
                filter.admits(one.record) && (!filter.uncollected || one.record.isUncollected)
            }
        if let text {
            // In the order in which they were stored, no matter how the clock was set.
            let older = admitted.filter { $0.number < after ?? .max }.map(\.record)
            return Array(older.reversed().lazy.filter(text.matches).prefix(limit))
        }
        let keyed = admitted.map {
            (key: ($0.record.resolvedMilliseconds, $0.number), $0.record)
        }
        let end = last.flatMap(alert).map { ($0.record.resolvedMilliseconds, after ?? .max) }
        return keyed.filter { one in end.map { one.key < $0 } ?? true }
            .sorted { $0.key > $1.key }.prefix(limit).map(\.1)
    }

    private func awaitingHook(
        _ filter: HistoryFilter, after sequence: Int64, _ limit: Int
    ) throws(AlertError) -> RecordPage {
        let text = try filter.text.map { text throws(AlertError) in try SearchText(text) }
        let found = responses(after: sequence).filter { one in
            one.record.isUncollected && one.alert.handler == nil && filter.admits(one.record)
        }
        let page = found.prefix(limit)
        let isFull = page.count == limit
        let records = page.map(\.record)
        return RecordPage(
            records: text.map { text in records.filter(text.matches) } ?? records,
            next: isFull
                ? page.last?.resolvedSequence : max(sequence, log.head.sequence),
            isEnd: !isFull)
    }
}

extension InMemoryAlert {
    fileprivate var isQuestion: Bool { !alert.buttons.isEmpty }
}

extension AlertRecord {
    fileprivate var isUncollected: Bool { response.map { $0.collectedAt == nil } ?? false }

    fileprivate var resolvedMilliseconds: Int64 {
        response.map { Timestamp.milliseconds($0.resolvedAt) } ?? 0
    }
}

// MARK: - Statistics

extension InMemoryQueue {
    func statistics(_ query: StatisticsQuery) -> AlertStatistics {
        var tally = StatisticsTally(query)
        for alert in alerts where query.admits(alert) {
            let (asked, response) = (alert.asked.wallMilliseconds, alert.response)
            let isUnseen = alert.presentedMilliseconds == nil
            tally.addAlerts(
                1, of: alert.source.name, response?.outcome, isUnseen: isUnseen,
                uncollected: response.map { $0.collectedAt == nil ? 1 : 0 } ?? 0,
                firstAsked: asked)
            tally.addToDay(1, askedAt: asked, response?.outcome, isUnseen: isUnseen)
            guard let response else { continue }
            if let button = response.button {
                tally.addChoices(1, of: button.id, response.outcome, isUnseen: isUnseen)
            }
            // Only the answers of people count, not those of policies or timers.
            guard response.outcome == .answered, response.by == .person else { continue }
            let resolved = Timestamp.milliseconds(response.resolvedAt)
            tally.addAnswer(
                by: response.responder.map { $0.principal.user ?? $0.principal.text } ?? "",
                to: alert.source.name, askedAt: asked,
                after: resolved - asked,
                fromPresented: alert.presentedMilliseconds.map { resolved - $0 })
        }
        return tally.statistics
    }
}

extension StatisticsQuery {
    fileprivate func admits(_ alert: InMemoryAlert) -> Bool {
        let asked = alert.asked.wallMilliseconds
        return source.map(alert.source.name.isIdentical) ?? true
            && since.map { Timestamp.milliseconds($0) <= asked } ?? true
            && until.map { Timestamp.milliseconds($0) > asked } ?? true
    }
}
