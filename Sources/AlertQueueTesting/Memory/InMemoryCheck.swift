import AlertCore
import SQLiteStore

/// A verification of a queue in memory: it checks the log's chain, and compares alerts and
/// responses with the log.
struct InMemoryCheck {
    /// The entries of one alert.
    private struct Story {
        var asked: AuditEntry?
        var presented: AuditEntry?
        var snoozed: [AuditEntry] = []
        /// The first entry with a content other than the one that was asked.
        var other: AuditEntry?
        var cancelling: AuditEntry?
        var resolved: AuditEntry?
        var collected: AuditEntry?
        /// The first entry that records a command.
        var ran: AuditEntry?
    }

    private let queue: InMemoryQueue
    private var report = AuditReport()
    private var stories: [Alert.ID: Story] = [:]
    /// The alerts that ended, in the order of the log.
    private var ended: [Alert.ID] = []

    /// - Throws: ``AlertError/busy(_:)`` when the task is cancelled.
    static func report(
        on queue: InMemoryQueue, expecting head: AuditHead?,
        _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws(AlertError) -> AuditReport {
        var check = InMemoryCheck(queue: queue)
        try check.readLog(expecting: head, progress)
        check.compare()
        return check.report
    }

    private init(queue: InMemoryQueue) { self.queue = queue }

    private mutating func readLog(
        expecting expected: AuditHead?, _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws(AlertError) {
        var last = AuditHead.start
        var hasSeenExpected = expected == nil
        for line in queue.log.lines {
            guard !Task.isCancelled else { throw .busy("the verification was cancelled") }
            let entry = line.entry
            do throws(AlertError) {
                try entry.checkHash()
                try entry.checkLink(after: last)
            } catch {
                report("\(error)", entry)
            }
            last = AuditHead(sequence: entry.event.sequence, hash: entry.hash)
            hasSeenExpected = hasSeenExpected || last == expected
            report.entries += 1
            note(entry)
            progress(Int(report.entries), queue.log.lines.count)
        }
        report.head = last.sequence > 0 ? last : nil
        guard let expected, !hasSeenExpected else { return }
        report.report(
            last.sequence < expected.sequence
                ? "the log ends at entry \(last.sequence), before the saved head "
                    + "\(expected.sequence): its tail was cut"
                : "entry \(expected.sequence) is not the one of the saved head: "
                    + "the log was rewritten", entry: expected.sequence)
    }

    private mutating func note(_ entry: AuditEntry) {
        guard let id = entry.event.alertID else { return }
        var story = stories[id] ?? Story()
        switch entry.event.kind {
        case .asked: story.asked.add(entry) { report("alert \(id) was asked twice", entry) }
        case .presented: story.presented = entry
        case .snoozed: story.snoozed.append(entry)
        case .cancelling: story.cancelling = entry
        case .resolved:
            story.resolved.add(entry) { report("alert \(id) was resolved twice", entry) }
            ended.append(id)
        case .collected:
            story.collected.add(entry) { report("alert \(id) was collected twice", entry) }
        case .ran: story.ran = story.ran ?? entry
        case .returned, .erased, .restored, .access, .reminded, .seen: break
        }
        let isOfContent =
            [.presented, .snoozed, .resolved].contains(entry.event.kind)
            || (entry.event.kind == .ran && entry.content != nil)
        if isOfContent, entry.content != story.asked?.content { story.other = entry }
        stories[id] = story
    }

    private mutating func report(_ reason: String, _ entry: AuditEntry) {
        report.report(reason, entry: entry.event.sequence, alert: entry.event.alertID)
    }

    private mutating func compare() {
        for id in stories.keys.sorted() where queue.alert(id) == nil {
            report.report("alert \(id) is gone", alert: id)
        }
        for alert in queue.alerts {
            for fault in faults(of: alert, stories[alert.id] ?? Story()) {
                report.report("alert \(alert.id) \(fault)", alert: alert.id)
            }
        }
        if ended != queue.resolved {
            report.report("the responses are not in the order of the log")
        }
        if queue.waiting.map(\.id) != queue.alerts.filter({ $0.response == nil }).map(\.id) {
            report.report("the waiting alerts are not those without a response")
        }
    }

    /// The differences between an alert and its entries.
    private func faults(of alert: InMemoryAlert, _ story: Story) -> [String] {
        guard let asked = story.asked else { return ["was never asked: no entry records it"] }
        var faults: [String] = []
        let expect = { (isRight: Bool, fault: String) in if !isRight { faults.append(fault) } }
        expect(asked.content == alert.content, "is not what was asked")
        if let other = story.other {
            faults.append(
                "is not what entry \(other.event.sequence) says was \(other.event.kind.rawValue)")
        }
        let key = EntryDetail.key(asked: asked.detail).flatMap {
            KeyDigest(of: alert.alert, source: alert.source.name, salt: $0.salt)
        }
        expect(
            asked.detail.isIdentical(to: alert.askedDetail(key: key))
                && asked.event.source.isIdentical(to: alert.source.name)
                && asked.event.responder.uid == alert.source.uid
                && asked.event.responder.pid == alert.source.pid
                && asked.event.responder.host.isIdentical(to: alert.source.host)
                && asked.atMilliseconds == alert.asked.wallMilliseconds,
            "has another source, time, deadline, timers, buttons or key than its entry")
        expect(
            story.presented?.atMilliseconds == alert.presentedMilliseconds,
            "has a time of presentation that the log doesn't record")
        expect(story.snoozed.count == alert.snoozes, "was snoozed another number of times")
        if let end = alert.snoozedUntil {
            expect(
                story.snoozed.last?.detail.isIdentical(to: EntryDetail.snoozed(until: end))
                    ?? false,
                "is snoozed until a different time from the one in its last snooze entry")
        }
        expect(
            story.cancelling?.caller == alert.cancelRequest?.caller
                && story.cancelling?.event.by == alert.cancelRequest?.by,
            "differs from the log in whether it is to be cancelled")
        expect(
            story.resolved.map { entry in
                alert.response.map { entry.matches($0) && entry.content == alert.content } ?? false
            } ?? (alert.response == nil), "has another response than its entry")
        expect(
            story.collected?.atMilliseconds
                == alert.response?.collectedAt.map(Timestamp.milliseconds),
            "differs from the log in whether and when its response was collected")
        if let ran = story.ran {
            let collected = story.collected?.event.sequence ?? .max
            expect(
                collected < ran.event.sequence,
                "allowed a command to run before its response was collected")
        }
        return faults
    }
}

extension Optional {
    /// Takes a value if there is none yet; otherwise calls a closure.
    fileprivate mutating func add(_ value: Wrapped, _ report: () -> Void) {
        if self == nil { self = value } else { report() }
    }
}

extension AuditEntry {
    fileprivate var atMilliseconds: Int64 { Timestamp.milliseconds(event.at) }
}
