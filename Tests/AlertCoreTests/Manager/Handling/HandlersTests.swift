import AlertQueueTesting
import TestSupport
import Testing

@testable import AlertCore

@Suite("Handler agenda", .inParallel)
struct HandlersTests {
    private let now = ManualClock().now()

    private func agenda() -> Handlers {
        var agenda = Handlers()
        agenda.register("apply") { _ in }
        return agenda
    }

    @Test("No alarm is set for retries that are already due")
    func overdue() {
        var agenda = Handlers()
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
        var agenda = Handlers()
        agenda.register("apply") { _ in }
        _ = agenda.didFail(1, for: "apply", at: now)
        let later = now.advanced(by: agenda.didFail(1, for: "apply", at: now))
        let sooner = now.advanced(by: agenda.didFail(2, for: "apply", at: now))
        #expect(agenda.nextDue(after: now) == sooner)
        #expect(agenda.nextDue(after: sooner) == later)
    }

    @Test("A failed response is only retried after its pause, which doubles each time")
    func pauses() {
        var agenda = agenda()
        var now = now
        for seconds in [1, 2, 4] {
            #expect(agenda.mayStart(1, at: now))
            agenda.didStart(1)
            #expect(!agenda.mayStart(1, at: now))
            #expect(agenda.didFail(1, for: "apply", at: now) == .seconds(seconds))
            let due = now.advanced(by: .seconds(seconds))
            #expect(agenda.nextDue(after: now) == due)
            now = now.advanced(by: .milliseconds(seconds * 1000 - 1))
            #expect(!agenda.mayStart(1, at: now) && agenda.due(at: now).isEmpty)
            now = due
            #expect(agenda.due(at: now).map(\.id) == [1])
        }
        agenda.didSucceed(1)
        #expect(agenda.nextDue(after: now) == nil && agenda.due(at: now).isEmpty)
    }

    @Test("Newly registered code need not wait for retries of the old code")
    func registeredAnew() {
        var agenda = agenda()
        agenda.didStart(1)
        _ = agenda.didFail(1, for: "apply", at: now)
        agenda.register("other") { _ in }
        #expect(!agenda.mayStart(1, at: now))
        agenda.register("apply") { _ in }
        #expect(agenda.mayStart(1, at: now))
    }

    @Test("Up to 32 run at once")
    func limit() {
        var agenda = agenda()
        for id in 1...32 as ClosedRange<Int64> {
            #expect(!agenda.isFull && agenda.mayStart(id, at: now))
            agenda.didStart(id)
        }
        #expect(agenda.isFull && !agenda.mayStart(33, at: now))
        agenda.didSucceed(7)
        #expect(!agenda.isFull && agenda.mayStart(33, at: now))
    }

    @Test("A response held by another process is due at once until it is found held again")
    func held() {
        var agenda = agenda()
        agenda.noteHeld(2, for: "apply")
        agenda.noteHeld(1, for: "apply")
        #expect(agenda.due(at: now).map(\.id) == [1, 2])
        agenda.forgetHeld(1)
        #expect(agenda.due(at: now).map(\.id) == [2])
    }

    @Test("Responses that come during a walk cause exactly one more walk")
    func walks() {
        var agenda = agenda()
        let begun = (0..<3).map { _ in agenda.beginWalk("apply") }
        #expect(begun == [true, false, false] && agenda.isWalking("apply"))
        let goesOn = [agenda.endWalk("apply"), agenda.endWalk("apply")]
        #expect(goesOn == [true, false] && !agenda.isWalking("apply"))
        agenda.walk("apply", at: now.advanced(by: .seconds(1)))
        #expect(agenda.dueWalks(at: now).isEmpty)
        #expect(agenda.dueWalks(at: now.advanced(by: .seconds(1))) == ["apply"])
        let isFirst = agenda.beginWalk("apply")
        #expect(isFirst && agenda.nextDue(after: now) == nil)
    }
}
