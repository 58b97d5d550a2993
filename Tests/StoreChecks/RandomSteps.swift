import AlertCore
import TextFormats

/// Random steps, which are the same for the same seed.
package struct RandomSteps {
    private var random: SeededRandom
    private var count = 0
    /// The newest alert.
    private var newest: Alert.ID = 0
    /// The alerts that wait, as far as the results of the stores have shown.
    private var waiting: [Alert.ID] = []

    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// The next step, the caller on whose behalf it is done, and which of two processes does it.
    package mutating func next() -> (step: RandomStep, caller: Caller, process: Int) {
        let caller = one(of: [Caller.ana, .ben, .ben, .ben, .eve, .root, .boss()])
        // From time to time one process empties the queue: an empty queue is a special case, and so
        // is a process that uses it alone.
        count += 1
        let isEmptying = count / 80 % 2 == 1
        return isEmptying ? (emptyingStep(), caller, 0) : (busyStep(), caller, number(0...1))
    }

    /// Notes whether an alert waits.
    mutating func note(_ id: Alert.ID, isWaiting: Bool) {
        newest = max(newest, id)
        waiting.removeAll { $0 == id }
        if isWaiting { waiting.append(id) }
    }

    private mutating func emptyingStep() -> RandomStep {
        let end = Resolution.withdraw(.forced(.program))
        return switch number(0...9) {
        case 0...5: .resolve(waiting.first ?? id(), end, .nothing)
        case 6...7: .next(ScreenQuery(for: ["terminal"], prefersQuestions: oneIn(4)))
        case 8: .next(ScreenQuery(for: [one(of: ["terminal", "web"])]))
        default: ask()
        }
    }

    private mutating func busyStep() -> RandomStep {
        switch number(0...99) {
        case 0..<24: ask()
        case 24..<46: resolve()
        case 46..<50: .snooze(id(), until: oneIn(3) ? nil : .after(.seconds(number(-1...90))))
        case 50..<52: claim()
        case 52..<56: .collect(id(), because: oneIn(4) ? (oneIn(2) ? .stale : .ended) : nil)
        case 56..<58: .run(id(), runStep())
        case 58..<61: .requestCancel(id(), authority())
        case 61..<66: .notePresented(id())
        case 66..<67: .noteReturned(id())
        case 67..<69: .noteCollected(id())
        case 69..<74:
            oneIn(2)
                ? .find(.id(id()))
                : .find(.key(key(), source: source(), of: asker()))
        case 74..<84: .next(screenQuery())
        case 84..<92: .page(recordQuery())
        case 92..<94: .entries(logQuery())
        case 94..<95: .statistics(StatisticsQuery(source: oneIn(2) ? source() : nil))
        case 95..<96: oneIn(4) ? .verify : .count
        case 96..<97: .setWall(by: Int64(number(-40_000...40_000)))
        default: .advance(.milliseconds(oneIn(6) ? number(1...7_200_000) : number(1...40_000)))
        }
    }

    private mutating func resolve() -> RandomStep {
        let seen = oneIn(6) ? one(of: RandomStep.Seen.allCases) : .nothing
        return .resolve(id(), resolution(), seen)
    }

    private mutating func claim() -> RandomStep {
        guard !oneIn(4) else { return .release(id(), isForced: oneIn(3)) }
        let end: Alert.Deadline? = oneIn(3) ? nil : .after(.seconds(number(-1...90)))
        return .claim(id(), until: end, isForced: oneIn(3))
    }

    private mutating func runStep() -> RunStep {
        oneIn(4) ? .exited(status: Int32(number(0...3))) : .started(allowsDefault: oneIn(2))
    }

    private mutating func ask() -> RandomStep {
        var alert = Alert("Alert \(number(0...4))")
        if !oneIn(5) {
            alert.buttons = ["Yes", .destructive("Erase", id: "rm")]
            if oneIn(2) { alert.buttons.append(.cancel("No")) }
        }
        if !alert.buttons.isEmpty, oneIn(4) {
            alert.fields = [
                Alert.Field("name", isRequired: oneIn(2)),
                Alert.Field("copies", .integer(0...3), initialValue: oneIn(2) ? .integer(1) : nil),
            ]
        }
        alert.priority = one(of: Alert.Priority.allCases + [.normal, .normal])
        if oneIn(3) { alert.deadline = .after(.milliseconds(number(1...120_000))) }
        if oneIn(12) {
            let end = Int64(number(-100...200_000)) + 1_767_225_600_000
            alert.deadline = .at(Timestamp.date(milliseconds: end))
        }
        if alert.deadline != nil, !alert.buttons.isEmpty, oneIn(2) { alert.defaultButton = "Yes" }
        if oneIn(4) { alert.key = key() }
        if oneIn(5) { alert.handler = "handler" }
        if oneIn(6) { alert.presenters = [one(of: ["terminal", "web"])] }
        if oneIn(6) { alert.snooze = .seconds(number(1...40)) }
        if !alert.buttons.isEmpty, oneIn(4) {
            alert.validFor = .seconds(one(of: [30, 600]))
        }
        if oneIn(8) { alert.userInfo = ["word \(number(0...2))": "value"] }
        return .ask(
            Question(
                alert: alert, source: source(), isAwaited: oneIn(3), join: join(),
                mayBeNew: !oneIn(20), pendingLimit: oneIn(8) ? 4 : 10_000,
                principalLimit: oneIn(10) ? 9 : 100_000))
    }

    private mutating func join() -> Question.Join {
        if oneIn(2) { return .replacing }
        guard oneIn(2) else { return .same }
        let limit: Duration? = one(of: [nil, .zero, .seconds(30)])
        return .numbered(Question.Reuse(within: limit, byDefault: oneIn(2)))
    }

    private mutating func resolution() -> Resolution {
        let actor = one(of: [Resolution.Actor.person, .program])
        return switch number(0...13) {
        case 0...6: .choose(button: number(-1...2), actor, input())
        case 7...8: .chooseID(one(of: ["Yes", "rm", "No", "no"]), actor, input())
        case 9: .choose(button: nil, actor, input())
        case 10: .dismiss
        case 11:
            .withdraw(
                authority(), because: oneIn(2) ? "nobody needs it" : nil,
                onlyIfOrphaned: oneIn(4))
        case 12: .cancel(handled: oneIn(2), authority())
        default: .expireUnattended
        }
    }

    private mutating func input() -> Alert.Input {
        var input = Alert.Input(note: oneIn(5) ? one(of: ["a note", " ", "value"]) : nil)
        if oneIn(2) { input.values["name"] = one(of: [.text("value 1"), .text(""), .integer(1)]) }
        if oneIn(4) { input.values["copies"] = .integer(Int64(number(0...4))) }
        return input
    }

    private mutating func authority() -> Resolution.Authority {
        let actor = one(of: [Resolution.Actor.person, .program])
        return one(of: [.own(actor), .own(actor), .forced(actor), .requested])
    }

    private mutating func screenQuery() -> ScreenQuery {
        ScreenQuery(
            for: one(of: [["terminal"], ["web"], ["terminal", "web"], []]),
            own: oneIn(4) ? [id(), id()] : [], except: oneIn(4) ? [id(), id()].sorted() : [],
            prefersQuestions: oneIn(3))
    }

    private mutating func recordQuery() -> RecordQuery {
        let after = oneIn(3) ? id() : nil
        let limit = one(of: [1, 3, 10, 100])
        return switch number(0...9) {
        case 0...3:
            RecordQuery(
                .waiting(source: oneIn(3) ? source() : nil, orOverdue: oneIn(2)), after: after,
                limit: limit)
        case 4...7: RecordQuery(.history(filter()), after: after, limit: limit)
        case 8: RecordQuery(.awaitingHandler("handler"), after: after, limit: limit)
        default:
            RecordQuery(
                .awaitingHook(HistoryFilter(source: oneIn(3) ? source() : nil)), after: after,
                limit: limit)
        }
    }

    private mutating func filter() -> HistoryFilter {
        var filter = HistoryFilter()
        if oneIn(3) { filter.source = source() }
        if oneIn(8) { filter.key = key() }
        if oneIn(5) { filter.outcome = one(of: Outcome.allCases) }
        if oneIn(5) { filter.button = one(of: ["Yes", "rm", "No"]) }
        if oneIn(6) { filter.by = one(of: ResolvedBy.allCases) }
        if oneIn(8) { filter.user = one(of: ["ana", "ben", "eve"]) }
        if oneIn(6) { filter.uncollected = true }
        if oneIn(6) { filter.text = one(of: ["alert", "\"alert 1\"", "val*", "erase yes"]) }
        if oneIn(6) {
            filter.since = Timestamp.date(
                milliseconds: 1_767_225_600_000 + Int64(number(0...600_000)))
        }
        return filter
    }

    private mutating func logQuery() -> LogQuery {
        let about = oneIn(2) ? id() : nil
        return oneIn(2)
            ? LogQuery(.last(number(1...30)), of: about, limit: number(1...40))
            : LogQuery(.from(Int64(number(0...200))), of: about, limit: number(1...40))
    }

    /// One of the newest alerts, one that waits, or occasionally one that does not exist.
    private mutating func id() -> Alert.ID {
        !waiting.isEmpty && oneIn(3)
            ? one(of: waiting) : max(0, newest + 1 - Int64(number(0...16)))
    }

    private mutating func key() -> String { "key \(newest / 20 + Int64(number(0...2)))" }

    private mutating func source() -> String { one(of: ["backup", "deploy", "flood"]) }

    private mutating func asker() -> Principal { one(of: [Caller.ben, .boss()]).principal }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    private mutating func oneIn(_ count: Int) -> Bool { number(1...count) == 1 }

    private mutating func one<Element>(of elements: [Element]) -> Element {
        elements[number(0...(elements.count - 1))]
    }
}
