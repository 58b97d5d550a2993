import FoundationEssentials

@testable import AlertCore

/// A manager of a ``SimulatedQueue``: its screen, and what it has to do for that.
struct SimulatedDesk {
    /// Something that takes time, or has yet to be heard of.
    enum Pending {
        case attach
        case turn
        case look(Int, Screen.Look)
        case announce(Int, shown: Alert.ID?, current: Alert.ID?)
        case read(Alert.ID, otherwise: EntryReason?)
        case count(Alert.ID)
        case commit(Int, Change)
        case leave(Int)
        case dismiss(Alert.ID)
        case news(Screen.Event)
    }

    struct Run {
        var name: String
        let showing: Int
        let isTold: Bool
        var hasChosen = false
        var isEnding = false
    }

    let number: Int
    let presenters: [String]
    var screen = Screen()
    var delegate = DelegateCalls()
    /// The events that are yet to be handled.
    var events: [Screen.Event] = []
    var pending: [Pending] = []
    var runs: [Int: Run] = [:]
    var calls: Set<Screen.Call> = []
    var isAttached = false
    /// Whether its entry among the screens is lost.
    var isDetached = false
    var hasTurn = false
    /// The alert that it announces.
    var shows: Alert.ID?
    /// The responses that were passed on to calls and closures.
    private var settled: Set<Alert.ID> = []
    /// The calls of delegates in line, by number; the last of several names the effect.
    private var inLine: [Int: (id: Alert.ID, Callback.Kind, effect: Int?)] = [:]
    /// Those that have begun and not returned.
    var running: [Int: Callback.Kind] = [:]
    private var lastCallback: [Alert.ID: Int] = [:]
    private var presented: Set<Alert.ID> = []
    private var lastNumber = 0

    init(number: Int, presenters: [String]) {
        self.number = number
        self.presenters = presenters
    }

    func attached(at now: ClockReading) -> AttachedScreen {
        let caller = Caller(
            Account(uid: 0, name: "root"), via: "test",
            process: ProcessIdentity(host: "here", pid: Int32(number + 1)))
        var attached = AttachedScreen(
            caller: caller, presenters: screen.presenters.able(at: now), hasDelegate: true)
        attached.alert = shows
        return attached
    }

    mutating func detach() {
        (isAttached, shows) = (false, nil)
        // A later start has presenters of its own.
        for number in runs.keys { runs[number]?.name = "an earlier one" }
    }

    /// Whether it does nothing but look for the next alert from time to time.
    var isAtRest: Bool {
        screen.shown == nil && runs.isEmpty && running.isEmpty && calls.isEmpty
            && pending.allSatisfy {
                switch $0 {
                case .turn, .look, .announce: true
                case .attach, .read, .count, .commit, .leave, .dismiss, .news: false
                }
            }
    }
}

// MARK: - Effects

extension SimulatedDesk {
    mutating func note(_ effect: Screen.Effect, _ violations: inout [String]) {
        switch effect {
        case .attach: pending.append(.attach)
        case .resume(let call, _):
            if calls.remove(call) == nil { violations.append("call \(call) is resumed again") }
        case .takeTurn: pending.append(.turn)
        case .endTurn:
            if !hasTurn { violations.append("a turn ends that nobody has") }
            hasTurn = false
        case .look(let number, let look):
            pending.append(.look(number, look))
        case .announce(let number, let shown, let current):
            pending.append(.announce(number, shown: shown?.id, current: current))
        case .read(let id, let reason): pending.append(.read(id, otherwise: reason))
        case .countWaiting(let id): pending.append(.count(id))
        case .present(let number, let name, let showing, _):
            begin(number, Run(name: name, showing: showing, isTold: false), &violations)
        case .tell(let number, let name, let showing, _):
            begin(number, Run(name: name, showing: showing, isTold: true), &violations)
        case .release(let number): runs[number]?.isEnding = true
        case .end(let number): runs[number]?.isEnding = true
        case .commit(let number, let change, _): pending.append(.commit(number, change))
        case .leave(let number, _, _): pending.append(.leave(number))
        case .dismissElsewhere(let id): pending.append(.dismiss(id))
        case .settle(let record), .resolvedElsewhere(let record): settled.insert(record.id)
        case .noteAppearance(let record, let names):
            if record.state != .presented || names.isEmpty {
                violations.append("alert \(record.id) appears as \(record.state)")
            }
        case .fail, .cancelTurn, .post, .snoozedElsewhere, .refuse, .report, .detach, .stepBack,
            .stayAway, .announceNothing, .notify, .notifyDismissed:
            break
        }
    }

    private mutating func begin(_ number: Int, _ run: Run, _ violations: inout [String]) {
        if runs.values.contains(where: { $0.name == run.name }) {
            violations.append("“\(run.name)” is used while it is busy")
        }
        if runs.values.contains(where: { !$0.isEnding && !$0.isTold && $0.showing != run.showing })
        {
            violations.append("two alerts are on one screen")
        }
        runs[number] = run
    }

    mutating func notify(
        _ effect: Int, _ id: Alert.ID, _ callbacks: [Callback], at now: ClockReading
    ) -> [DelegateCalls.Effect] {
        var effects: [DelegateCalls.Effect] = []
        for (index, callback) in callbacks.enumerated() {
            lastNumber += 1
            inLine[lastNumber] = (
                id, callback.kind, index == callbacks.count - 1 ? effect : nil
            )
            effects += delegate.handle(.add(lastNumber, to: Self.line), at: now)
        }
        return effects
    }

    private final class Line: Sendable {}
    private static let delegateObject = Line()
    private static let line = ObjectIdentifier(delegateObject)

    /// Notes what a delegate's line does; returns the effect that has ended.
    mutating func note(
        _ effect: DelegateCalls.Effect, _ violations: inout [String]
    ) -> (screen: Int, isHandled: Bool)? {
        switch effect {
        case .begin(let number):
            guard let call = inLine[number] else { break }
            running[number] = call.1
            note(call.1, of: call.id, &violations)
        case .passed(let number, let isHandled):
            guard let effect = inLine[number]?.effect else { break }
            inLine[number]?.effect = nil
            return (effect, isHandled)
        case .reportSilence: break
        case .forget(let number):
            running[number] = nil
            inLine[number] = nil
        }
        return nil
    }

    /// Checks the order of the calls for one alert, each of which comes once for an appearance.
    private mutating func note(
        _ kind: Callback.Kind, of id: Alert.ID, _ violations: inout [String]
    ) {
        let (place, last) = (Self.place(of: kind), lastCallback[id] ?? 0)
        switch kind {
        // An alert may come again after it has left.
        case .willPresent where last == 0 || last == 6: presented.remove(id)
        // It may be cancelled before it is on the screen.
        case .didPresent where last == 3 && !presented.contains(id):
            presented.insert(id)
            return
        case .didPresent where last == 1: presented.insert(id)
        case .cancel, .clicked, .willDismiss, .didDismiss:
            if place <= last || last == 0 { fallthrough }
        case .willPresent, .didPresent, .nothing:
            violations.append("\(kind) of alert \(id) comes after \(last)")
        }
        lastCallback[id] = place
    }

    private static func place(of kind: Callback.Kind) -> Int {
        switch kind {
        case .willPresent: 1
        case .didPresent: 2
        case .cancel: 3
        case .clicked: 4
        case .willDismiss: 5
        case .didDismiss: 6
        case .nothing: 0
        }
    }
}

// MARK: - Checks

extension SimulatedDesk {
    /// What is wrong now: a state waits for something that is not under way, or something grows.
    func check(after event: Screen.Event) -> [String] {
        var wrong: [String] = []
        func expect(_ isTrue: Bool, _ text: String) {
            if !isTrue { wrong.append("desk \(number), after \(event): \(text)") }
        }
        func isPending(_ isIt: (Pending) -> Bool) -> Bool { pending.contains(where: isIt) }
        switch screen.state {
        case .off: expect(!isAttached && shows == nil, "it is off and attached")
        case .attaching:
            expect(isPending { if case .attach = $0 { true } else { false } }, "nothing attaches")
        case .takingTurn:
            expect(isPending { if case .turn = $0 { true } else { false } }, "no turn is taken")
        case .looking(let looking):
            expect(
                isPending {
                    if case .look(looking.number, _) = $0 { true } else { false }
                }, "nothing is looked for")
        case .announcing(let looking, _):
            expect(
                isPending {
                    if case .announce(looking.number, _, _) = $0 { true } else { false }
                }, "nothing is announced")
        case .idle(let pause, let end):
            switch pause {
            case .presenters, .trouble:
                // A presenter that did not end in time may still do so.
                let mayEnd = screen.presenters.stuck.contains { name in
                    runs.values.contains { $0.name == name }
                }
                expect(end != nil || mayEnd, "it never looks again")
            case .nothing, .others: break
            }
        case .showing(let showing): check(showing, expect, isPending)
        }
        expect(hasTurn == screen.holdsTurn, "it has the terminal, or not, against its state")
        expect(pending.count < 3000, "too many things are under way")
        return wrong
    }

    private func check(
        _ showing: Showing, _ expect: (Bool, String) -> Void,
        _ isPending: ((Pending) -> Bool) -> Bool
    ) {
        func isNotifying(_ effect: Int) -> Bool { inLine.values.contains { $0.effect == effect } }
        switch showing.state {
        case .beginning(let call): expect(isNotifying(call), "no delegate is told")
        case .open:
            let isShown = runs.values.contains { $0.showing == showing.number }
            expect(isShown || showing.moments.contains { $0 != nil }, "nobody shows the alert")
        case .storing(let number, _):
            expect(
                isPending {
                    if case .commit(number, _) = $0 { true } else { false }
                }, "nothing is stored")
        case .clearing(let clearing):
            switch clearing.step {
            case .leaving(let number):
                expect(
                    isPending {
                        if case .leave(number) = $0 { true } else { false }
                    }, "nobody is told that it leaves")
            case .delegate(let call), .dismissed(let call):
                expect(isNotifying(call), "no delegate is told that it leaves")
            case .presenters, .telling:
                expect(showing.moments.contains { $0 != nil }, "it waits for ever")
            }
        case .over: expect(false, "it is over and still there")
        }
    }

    /// What is left when everything has come to its end.
    func unfinished(besides alerts: [Alert.ID: AlertRecord]) -> [String] {
        var wrong: [String] = []
        if !calls.isEmpty { wrong.append("desk \(number): calls \(calls.sorted()) still wait") }
        let lost = Set(alerts.keys).subtracting(settled)
        if !lost.isEmpty { wrong.append("desk \(number) passes on nothing of \(lost.sorted())") }
        if !inLine.isEmpty { wrong.append("desk \(number): \(inLine.count) calls are in line") }
        let open = lastCallback.filter { $0.value != 6 }.keys.sorted()
        if !open.isEmpty { wrong.append("desk \(number): alerts \(open) never left") }
        return wrong
    }

    var description: String {
        "desk \(number): \(screen.state), pending \(pending), runs \(runs), in line \(inLine)"
    }
}

extension Screen {
    /// Whether it has the terminal that managers share.
    fileprivate var holdsTurn: Bool {
        switch state {
        case .looking, .announcing, .showing: true
        case .off, .attaching, .idle, .takingTurn: false
        }
    }
}
