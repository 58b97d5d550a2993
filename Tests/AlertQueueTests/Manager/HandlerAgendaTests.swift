import AlertQueueTesting
import Testing

@testable import AlertQueue

@Suite("Handler agenda")
struct HandlerAgendaTests {
    private let now = ManualClock().now()

    @Test("No alarm is set for what is due already, because it would go off over and over")
    func overdue() {
        var agenda = HandlerAgenda()
        agenda.register("apply") { _ in }
        let due = now.advanced(by: agenda.didFail(1, for: "apply", at: now))
        #expect(agenda.nextDue(after: now) == due)
        #expect(agenda.due(at: due).map(\.id) == [1])
        agenda.didStart(1)
        #expect(agenda.due(at: due).isEmpty)
        #expect(agenda.nextDue(after: due) == nil)
    }

    @Test("The earliest of several retries is the next one")
    func earliest() {
        var agenda = HandlerAgenda()
        agenda.register("apply") { _ in }
        _ = agenda.didFail(1, for: "apply", at: now)
        let later = now.advanced(by: agenda.didFail(1, for: "apply", at: now))
        let sooner = now.advanced(by: agenda.didFail(2, for: "apply", at: now))
        #expect(agenda.nextDue(after: now) == sooner)
        #expect(agenda.nextDue(after: sooner) == later)
    }
}
