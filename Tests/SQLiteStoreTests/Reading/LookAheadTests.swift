import AlertCore
import AlertQueueTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Look-ahead", .inParallel)
struct LookAheadTests {
    private let lookAhead = LookAhead()
    private let clock = ManualClock()
    private let query = ScreenQuery(for: ["terminal"])

    private func receipt(
        _ id: Alert.ID, presenters: [String]? = nil, timeLeft: Duration? = nil
    ) -> Receipt {
        var alert = Alert("\(id)")
        alert.presenters = presenters
        let record = AlertRecord(
            id: id, alert: alert,
            source: AlertRecord.Source(
                name: "test", .account(Account(uid: 1)),
                .process(ProcessIdentity(host: "here", pid: 2))),
            state: .queued, askedAt: .distantPast, presentedAt: nil, expiresAt: nil,
            snoozedUntil: nil, snoozes: 0, response: nil)
        return Receipt(
            record: record, isNew: true, timeLeft: timeLeft,
            head: AuditHead(sequence: id, hash: AuditHead.start.hash))
    }

    private func known(_ query: ScreenQuery? = nil, isOwn: Bool = true) -> Upcoming? {
        lookAhead.upcoming(for: query ?? self.query, at: clock.now(), isOwn: { _ in isOwn })
    }

    private func ask(_ receipt: Receipt) { lookAhead.didAsk(receipt, at: clock.now()) }

    @Test("An alert asked after an empty look is known until it has its response")
    func story() {
        ask(receipt(1))
        #expect(known() == nil)
        lookAhead.foundNothing(for: query, at: 1, since: lookAhead.forget())
        #expect(known()?.record == nil && known() != nil)
        ask(receipt(2))
        #expect(known()?.record?.id == 2)
        lookAhead.didResolve(2)
        #expect(known()?.record == nil && known() != nil)
        lookAhead.forget()
        #expect(known() == nil)
    }

    @Test("The order of two alerts, and changes by others, require a look")
    func looks() {
        lookAhead.foundNothing(for: query, at: 0, since: lookAhead.forget())
        ask(receipt(1))
        #expect(known(isOwn: false) == nil)
        #expect(known(ScreenQuery(for: ["desktop"])) == nil)
        #expect(known(ScreenQuery(for: ["terminal"], own: [1])) == nil)
        #expect(known(ScreenQuery(for: ["terminal"], except: [1])) == nil)
        ask(receipt(2))
        #expect(known() == nil)
        lookAhead.didResolve(1)
        #expect(known()?.record?.id == 2)
    }

    @Test("Alerts that only other screens may show, and overdue ones, require a look")
    func unfit() {
        lookAhead.foundNothing(for: query, at: 0, since: lookAhead.forget())
        ask(receipt(1, presenters: ["desktop"]))
        #expect(known() == nil)
        lookAhead.didResolve(1)
        ask(receipt(2, timeLeft: .zero))
        #expect(known() == nil)
    }

    @Test("An alert that is not remembered is not taken for resolved")
    func forgotten() {
        for id in 1...3 as ClosedRange<Alert.ID> { ask(receipt(id)) }
        // A look from before the first of them.
        lookAhead.foundNothing(for: query, at: 0, since: lookAhead.forget())
        lookAhead.didResolve(2)
        lookAhead.didResolve(3)
        #expect(known() == nil)
        lookAhead.foundNothing(for: query, at: 3, since: lookAhead.forget())
        #expect(known() != nil)
    }

    @Test("An alert that is forgotten after an empty look is not taken for resolved")
    func forgottenAfterwards() {
        lookAhead.foundNothing(for: query, at: 0, since: lookAhead.forget())
        for id in 1...3 as ClosedRange<Alert.ID> { ask(receipt(id)) }
        lookAhead.didResolve(2)
        lookAhead.didResolve(3)
        #expect(known() == nil)
    }

    @Test("The result of a look is ignored if something changed in the meantime")
    func changedMeanwhile() {
        let generation = lookAhead.forget()
        // Another process stores an alert just now.
        lookAhead.forget()
        lookAhead.foundNothing(for: query, at: 1, since: generation)
        #expect(known() == nil)
    }
}
