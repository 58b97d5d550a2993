@testable import AlertCore

/// A manager of ``SimulatedAskers``: its closures, handlers and waiting calls, and what it has to do
/// for them.
struct SimulatedAsker {
    /// An alert that has been asked, and whose response may already be there.
    struct Asking {
        let record: AlertRecord
        let resolutionsBefore: UInt64
    }

    /// Something that takes time, or has yet to be heard of.
    enum Pending {
        /// A call that has asked and is about to wait.
        case wait(call: Int, Asking)
        case watch(call: Int, Asking)
        /// Closures of an alert that has been asked.
        case keep(closure: Int, Asking)
        case look(Alert.ID)
        case settle(Alert.ID)
        case closure(Int, of: Alert.ID)
        case read(String, after: Alert.ID?)
        case lease(Alert.ID)
        case handler(Alert.ID)
        case collection(Alert.ID)
    }

    enum Outcome: Equatable {
        case response(Alert.ID)
        case cancelled
        case failed
        case closed
    }

    struct Call {
        let id: Alert.ID
        let wait = Waiters.Wait()
        /// Whether it is among the waiters.
        var isWaiting = false
        /// What it must have been resumed with.
        var outcome: Outcome?
    }

    enum ClosureState {
        case waiting
        case running
        case over
    }

    /// What a response must wait for after an attempt to handle it.
    struct Retry {
        var failures = 0
        var notBefore: ClockReading
    }

    static let limit = 3

    /// Whether it remembers so few failures that walks try some responses again early.
    let isForgetful: Bool
    var handlers: Handlers
    let waiters = Waiters()
    /// The resolutions by others of which it has not heard.
    var news: [Alert.ID] = []
    var pending: [Pending] = []
    var names: Set<String> = []
    var calls: [Int: Call] = [:]
    var closures: [Int: (id: Alert.ID, state: ClosureState)] = [:]
    /// The alerts whose closures run, and whether one has failed.
    private var closureRuns: [Alert.ID: Bool] = [:]
    var retries: [Alert.ID: Retry] = [:]
    /// Until when nothing may be leased.
    var pauseEnd: ClockReading?
    /// The resolved alerts of which it has been told.
    var known: Set<Alert.ID> = []
    var alarm: ClockReading?
    var isClosed = false
    /// The pauses that were reported since the last event.
    var reported: [Duration] = []

    init(isForgetful: Bool) {
        self.isForgetful = isForgetful
        handlers = Handlers(limit: Self.limit, memory: isForgetful ? 4 : 10_000)
    }

    /// The responses whose handlers run, or are about to.
    var running: [Alert.ID] {
        pending.compactMap {
            switch $0 {
            case .lease(let id), .handler(let id), .collection(let id): id
            default: nil
            }
        }
    }

    /// Whether anything that its handlers have begun will end.
    var isBusy: Bool {
        pending.contains {
            switch $0 {
            case .closure, .read, .lease, .handler, .collection: true
            default: false
            }
        }
    }
}

// MARK: - Effects

extension SimulatedAsker {
    /// Notes what is to be done; returns an alert to be collected.
    mutating func note(
        _ effect: Handlers.Effect, _ alerts: [Alert.ID: AlertRecord], at now: ClockReading,
        _ violations: inout [String]
    ) -> Alert.ID? {
        func expect(_ isTrue: Bool, _ text: String) { if !isTrue { violations.append(text) } }
        switch effect {
        case .runClosures(let one, let record):
            guard let number = one.alert.userInfo["number"].flatMap({ Int($0) }) else { break }
            let others = closures.values.filter { $0.id == record.id && $0.state == .running }
            expect(others.isEmpty, "two closures of alert \(record.id) run at once")
            expect(closures[number]?.state == .waiting, "closure \(number) runs again")
            expect(record.response != nil, "closure \(number) runs without a response")
            closures[number]?.state = .running
            closureRuns[record.id] = closureRuns[record.id] ?? false
            pending.append(.closure(number, of: record.id))
        case .closuresEnded(let id, let collects):
            let hasFailed = closureRuns.removeValue(forKey: id)
            let left = closures.values.filter { $0.id == id && $0.state != .over }
            expect(isClosed || left.isEmpty, "closures of alert \(id) are left out")
            let mayCollect = hasFailed == false && alerts[id]?.alert.handler == nil && !isClosed
            expect(collects == mayCollect, "alert \(id) is collected, or not, by its closures")
            if collects { return id }
        case .read(let name, let last):
            let isReading = pending.contains { if case .read(name, _) = $0 { true } else { false } }
            expect(!isReading, "two walks for “\(name)” at once")
            pending.append(.read(name, after: last))
        case .run(_, let name, let id):
            let left = closures.values.filter { $0.id == id && $0.state != .over }
            expect(left.isEmpty, "the handler of alert \(id) runs before its closures")
            expect(!running.contains(id), "the handler of alert \(id) runs twice at once")
            expect(running.count < Self.limit, "too many handlers run")
            expect(names.contains(name), "“\(name)” runs, which is not registered")
            expect(pauseEnd.map(now.isAtOrAfter) ?? true, "alert \(id) is leased in a pause")
            if !isForgetful, let retry = retries[id] {
                expect(now.isAtOrAfter(retry.notBefore), "alert \(id) is tried again too early")
            }
            pending.append(.lease(id))
        case .report(.handler(_, _, _, let pause)): reported.append(pause)
        case .report(let error): violations.append("it reports \(error)")
        }
        return nil
    }

    mutating func closureEnds(_ number: Int, of id: Alert.ID, hasFailed: Bool) {
        closures[number]?.state = .over
        if hasFailed { closureRuns[id] = true }
    }

    /// Notes how an attempt to handle a response ended; returns the pauses to be reported.
    mutating func attemptEnds(
        _ id: Alert.ID, _ end: Processing, at now: ClockReading
    ) -> [Duration] {
        if isClosed { return [] }
        var retry = retries[id] ?? Retry(notBefore: now)
        switch end {
        case .collected, .gone, .stale:
            retries[id] = nil
            return []
        case .failed, .unstored:
            retry.failures += 1
            let pause = Duration.seconds(min(600, 1 << min(retry.failures - 1, 10)))
            retry.notBefore = now.advanced(by: pause)
            retries[id] = retry
            return [pause]
        case .held:
            retry.notBefore = now.advanced(by: .seconds(1))
            retries[id] = retry
            return []
        case .notLeased:
            if let pauseEnd, !now.isAtOrAfter(pauseEnd) { return [] }
            pauseEnd = now.advanced(by: .seconds(10))
            return [.seconds(10)]
        }
    }
}

// MARK: - Calls

extension SimulatedAsker {
    mutating func endCalls(for id: Alert.ID? = nil, with outcome: Outcome) {
        for (number, call) in calls where call.isWaiting && (id == nil || call.id == id) {
            calls[number]?.isWaiting = false
            calls[number]?.outcome = outcome
        }
    }

    /// The calls that have not got what they must have got.
    func unfinishedCalls() async -> [String] {
        var wrong: [String] = []
        for call in calls.values {
            guard let outcome = call.outcome, call.wait.isDelivered else {
                wrong.append("a call waits for alert \(call.id) for ever")
                continue
            }
            let found: Outcome
            switch await call.wait.value() {
            case .success(let record): found = .response(record.response == nil ? 0 : record.id)
            case .failure(is CancellationError): found = .cancelled
            case .failure(AlertError.closed): found = .closed
            case .failure: found = .failed
            }
            if found != outcome { wrong.append("a call gets \(found), not \(outcome)") }
        }
        return wrong
    }
}

// MARK: - Checks

extension SimulatedAsker {
    /// What is wrong now: a response waits for nothing, or a call is or is not resumed.
    func check(_ alerts: [Alert.ID: AlertRecord], at now: ClockReading) -> [String] {
        var wrong: [String] = []
        func expect(_ isTrue: Bool, _ text: String) { if !isTrue { wrong.append(text) } }
        var waits: [Alert.ID: Int] = [:]
        for call in calls.values {
            if call.isWaiting { waits[call.id, default: 0] += 1 }
            expect(
                call.wait.isDelivered == (call.outcome != nil),
                "a call for alert \(call.id) is resumed, or not, against \(call)")
        }
        expect(waiters.ids.count == waits.count, "calls wait for \(waiters.ids)")
        for (id, count) in waits {
            expect(waiters.count(for: id) == count, "alert \(id) has not \(count) calls")
        }
        let moment = handlers.nextMoment(after: now)
        if let moment {
            expect(!now.isAtOrAfter(moment), "an alarm is set for the past")
            expect(now.time(until: moment) <= .seconds(600), "a pause is too long")
        } else if !isBusy, !isClosed {
            // Those with closures are handled after these.
            let others = known.subtracting(closures.values.filter { $0.state != .over }.map(\.id))
            let idle = others.filter { id in
                guard let record = alerts[id], let name = record.alert.handler else { return false }
                return record.source.principal.isRoot && record.response?.collectedAt == nil
                    && names.contains(name)
            }
            expect(idle.isEmpty, "nothing will handle alerts \(idle.sorted())")
        }
        if isClosed {
            expect(moment == nil && waiters.isEmpty, "it waits after it was closed")
            expect(
                handlers.isEmpty || !closureRuns.isEmpty, "it keeps code after it was closed")
        }
        return wrong
    }
}
