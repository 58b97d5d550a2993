import AlertCore
import AlertQueueTesting
import TextFormats

/// A way to end an alert, and the response that it must leave.
private struct Ending: Sendable {
    var alert = Alert.yesNo()
    let resolution: Resolution
    let outcome: Outcome
    let index: Int
    let by: ResolvedBy
    var role: Alert.Button.Role?
    var handling: CancelHandling?
    var hasResponder = true
}

extension StoreContract {
    static let resolving = [
        StoreCheck("Each way to end an alert stores its response and its entry") { queue in
            let store = try await queue.open()
            for ending in endings {
                try await check(ending, on: store, queue.clock)
            }
            try await store.expectSound()
        },
        StoreCheck("A choice that an alert does not offer is refused, and the alert still waits") {
            queue in
            let store = try await queue.open()
            for (kind, alert, resolution) in refusals {
                let id = try await store.ask(alert).record.id
                try await expectError(kind) {
                    try await store.resolve(id, resolution, by: .ana)
                }
                try expectEqual(try await store.record(id).state, .queued, "state")
                try expectEqual(try await store.kinds(of: id), [.asked], "entries")
            }
            let error = try await expectError("noSuchButton") {
                try await store.resolve(1, .chooseID("yes"), by: .ana)
            }
            try expectEqual(
                error, .noSuchButton(1, button: "yes", known: ["Yes", "No"]), "the error")
        },
        StoreCheck("Of the changes in one commit, each is stored or refused by itself") { queue in
            let store = try await queue.open()
            let ids = [try await store.ask().record.id, try await store.ask().record.id]
            try await store.answer(ids[1], 1)
            let question = Question(alert: .yesNo(key: "k"), source: "test")
            let results = try await store.commit(
                [
                    .resolve(ids[0], .withdraw(because: "over")), .resolve(99, .dismiss),
                    .resolve(ids[1], .choose(button: 0)), .ask(question), .ask(question),
                    .snooze(3, until: .after(.seconds(60))), .resolve(3, .choose(button: 7)),
                ], by: .ben)
            let kinds = results.map { result in
                if case .failure(let error) = result { error.kind } else { "" }
            }
            try expectEqual(
                kinds, ["", "notFound", "alreadyResolved", "", "", "", "noSuchButton"], "errors")
            let receipts = results.compactMap { try? $0.get() }
            try expectEqual(receipts.map(\.record.id), [ids[0], 3, 3, 3], "the alerts")
            try expectEqual(receipts.map(\.isNew), [true, true, false, true], "what is new")
            try expectEqual(
                try await store.kinds(),
                [.asked, .asked, .resolved, .resolved, .asked, .snoozed], "entries")
            try expectEqual(try await store.commit([], by: .ben).count, 0, "results of nothing")
            try await store.expectSound()
        },
        StoreCheck("Every operation on an unknown id throws notFound") { queue in
            let store = try await queue.open()
            try await store.ask()
            let changes: [Change] = [
                .resolve(9, .choose(button: 0)), .resolve(-1, .withdraw()),
                .snooze(9, until: nil), .collect(9), .requestCancel(9, .own(.program)),
                .resolve(0, .dismiss), .run(9, .started(allowsDefault: false)),
                .run(9, .exited(status: 0)),
            ]
            for change in changes {
                try await expectError("notFound") { try await store.commit(change, by: .ana) }
            }
            let error = try await expectError("notFound") { try await store.find(.id(9)) }
            try expectEqual(error, .notFound(9), "the error")
            for kind in [RecordQuery.Kind.waiting(source: nil), .history(HistoryFilter())] {
                try await expectError("notFound") {
                    try await store.page(RecordQuery(kind, after: 9, limit: 1))
                }
            }
            try expectEqual(try await store.kinds(), [.asked], "entries")
        },
        StoreCheck("Of 64 simultaneous answers one wins, and each other caller gets that one") {
            queue in
            let stores = [try await queue.open(), try await queue.open()]
            let id = try await stores[0].ask().record.id
            let results = await withTaskGroup(of: Result<Response?, AlertError>.self) { group in
                for number in 0..<64 {
                    let caller = number % 3 == 0 ? Caller.ana : .ben
                    group.addTask {
                        do throws(AlertError) {
                            let record = try await stores[number % 2]
                                .answer(id, number / 2 % 2, by: caller)
                            return .success(record.response)
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let winners = results.compactMap { try? $0.get() }
            try expectEqual(winners.count, 1, "winners")
            for case .failure(let error) in results {
                try expectEqual(error, .alreadyResolved(winners[0]), "the error of a loser")
            }
            try expectEqual(try await stores[1].record(id).response, winners[0], "the response")
            try expectEqual(try await stores[0].kinds(), [.asked, .resolved], "entries")
            try await stores[1].expectSound()
        },
        StoreCheck("An answer with the digest of a different question is refused") { queue in
            let store = try await queue.open()
            let asked = try await store.ask().record
            let digest = try require(asked.seen.flatMap { Hex.bytes($0) }, "digest")
            let error = try await expectError("notAsSeen") {
                try await store.resolve(
                    asked.id, .choose(button: 0), seen: digest.reversed(), by: .ana)
            }
            try expectEqual(error, .notAsSeen(asked.id), "the error")
            try expectEqual(try await store.kinds(), [.asked], "entries")
            let record = try await store.resolve(
                asked.id, .choose(button: 0), seen: digest, by: .ana)
            try expectEqual(record.response?.outcome, .answered, "the outcome")
        },
        StoreCheck("Only root may collect the response to another account's alert") { queue in
            let store = try await queue.open()
            for id in 1...2 as ClosedRange<Alert.ID> {
                try await store.ask()
                try await store.answer(id, by: .eve)
            }
            let error = try await expectError("notYours") { try await store.collect(1, by: .eve) }
            try expectEqual(error, .notYours(1, owner: .account(Account(uid: 1000))), "the error")
            store.post(.collected(1), by: .eve)
            try expect(try await store.collect(2, by: .root), "root may")
            try expect(
                try await store.record(1).response?.collectedAt == nil, "the other one stays")
            try expect(try await store.collect(1, by: .ana), "its own account may")
        },
        StoreCheck("The log says why an alert was withdrawn, and why a response is not used") {
            queue in
            let store = try await queue.open()
            let why = "the agent went on"
            for _ in 1...2 { try await store.ask() }
            _ = try await store.resolve(1, .withdraw(because: why), by: .ben)
            try await store.answer(2)
            _ = try await store.commit(.collect(2, because: .ended), by: .ben)
            _ = try await store.commit(.collect(1), by: .ben)
            let entries = try await store.entries(limit: 9)
            try expectEqual(
                entries.dropFirst(2).map(\.note), [why, nil, nil, nil],
                "the reason of the withdrawal")
            try expectEqual(
                try await store.record(1).response?.note, why, "the same in the response")
            try expect(entries[2].detail?.contains(why) == false, "the log keeps its hash alone")
            try expectEqual(
                entries.dropFirst(3).map(\.meaning), [nil, .unused(.ended), nil], "the details")
            try expectEqual(
                try await store.verify(expecting: nil).problems.count, 0, "the problems of the log")
        },
        StoreCheck("A response is collected once, by the first caller") { queue in
            let store = try await queue.open()
            let id = try await store.ask().record.id
            let early = try await store.commit(.collect(id), by: .ben)
            try expect(!early.isNew && early.record.response == nil, "there is nothing to take")
            try await store.answer(id)
            try expect(
                try await store.record(id).response?.collectedAt == nil, "nobody has it yet")
            let start = queue.clock.now().wallMilliseconds
            let first = try await store.commit(.collect(id), by: .ben)
            try expect(first.isNew, "the first one has collected it")
            queue.clock.advance(by: .seconds(5))
            try expect(try await !store.collect(id, by: .ana), "the second one has not")
            store.post(.collected(id), by: .ana)
            try await store.ask(.yesNo("Carries the note"))
            let collected = try await store.record(id).response?.collectedAt
            try expectEqual(collected.map(Timestamp.milliseconds), start, "when")
            let entries = try await store.entries(of: id, limit: 9)
            try expectEqual(
                entries.map(\.event.kind), [.asked, .resolved, .collected], "entries")
            try expectEqual(entries.last?.event.responder, Caller.ben.recorded, "by whom")
            try await store.expectSound()
        },
    ]

    private static func check(
        _ ending: Ending, on store: any AlertStore, _ clock: ManualClock
    ) async throws {
        let asked = try await store.ask(ending.alert, by: .ben)
        let waiting = try await store.pendingCount()
        clock.advance(by: .seconds(1))
        let receipt = try await store.commit(
            .resolve(asked.record.id, ending.resolution), by: .ana)
        try expect(receipt.isNew && receipt.head.sequence > asked.head.sequence, "it is new")
        let stored = try await store.record(asked.record.id)
        try expectEqual(receipt.record, stored, "the record of the receipt")
        let response = try require(stored.response, "response")
        try expectEqual(stored.state, .resolved, "state")
        try expectEqual(response.outcome, ending.outcome, "outcome of \(ending.resolution)")
        try expectEqual(response.buttonIndex, ending.index, "button of \(ending.resolution)")
        try expectEqual(response.by, ending.by, "by of \(ending.resolution)")
        try expectEqual(response.button?.role, ending.role, "role of \(ending.resolution)")
        try expectEqual(response.cancelHandling, ending.handling, "handling of a cancel")
        // A timer is not a responder.
        try expectEqual(
            response.responder, ending.hasResponder ? Caller.ana.recorded : nil, "responder")
        try expectEqual(
            Timestamp.milliseconds(response.resolvedAt), clock.now().wallMilliseconds, "time")
        try expectEqual(try await store.pendingCount(), waiting - 1, "what waits")
        let entry = try require(
            try await store.entries(after: asked.head, limit: 9).last, "entry")
        try expectEqual(entry.event.kind, .resolved, "kind of the entry")
        try expectEqual(entry.event.outcome, ending.outcome, "outcome of the entry")
        try expectEqual(entry.event.buttonIndex, ending.index, "button of the entry")
        try expectEqual(entry.event.by, ending.by, "by of the entry")
        try expectEqual(entry.event.responder, Caller.ana.recorded, "responder of the entry")
        try expectEqual(entry.buttonRole, ending.role, "role of the entry")
        try expectEqual(entry.button, response.button?.id, "id of the entry's button")
        try expectEqual(entry.content.map(Hex.text), stored.seen, "content of the entry")
        let again = try await expectError("alreadyResolved") {
            try await store.resolve(asked.record.id, ending.resolution, by: .ben)
        }
        try expectEqual(again, .alreadyResolved(response), "the error of the next caller")
    }

    private static let endings = [
        Ending(resolution: .choose(button: 0), outcome: .answered, index: 0, by: .person),
        Ending(
            resolution: .choose(button: 1, .program), outcome: .answered, index: 1, by: .program,
            role: .cancel),
        Ending(
            resolution: .chooseID("No"), outcome: .answered, index: 1, by: .person, role: .cancel),
        Ending(
            alert: Alert("Done"), resolution: .choose(button: nil), outcome: .dismissed, index: -1,
            by: .person),
        Ending(
            alert: Alert("Done"), resolution: .dismiss, outcome: .dismissed, index: -1,
            by: .system, hasResponder: false),
        Ending(
            resolution: .cancel(handled: false), outcome: .cancelled, index: 1, by: .system,
            role: .cancel, handling: .simulateCancelButton),
        Ending(
            alert: Alert("?", buttons: ["Yes", "No"]), resolution: .cancel(handled: true),
            outcome: .cancelled, index: -1, by: .system, handling: .handled),
        Ending(resolution: .withdraw(), outcome: .withdrawn, index: -1, by: .asker),
        Ending(
            alert: withDefault, resolution: .expireUnattended, outcome: .expired, index: 1,
            by: .policy, role: .cancel, hasResponder: false),
    ]

    private static let withDefault: Alert = {
        var alert = Alert.yesNo(deadline: .after(.seconds(60)))
        alert.defaultButton = "No"
        return alert
    }()

    private static let refusals: [(String, Alert, Resolution)] = [
        ("noSuchButton", .yesNo(), .choose(button: 2)),
        ("noSuchButton", .yesNo(), .choose(button: -1)),
        ("noSuchButton", .yesNo(), .chooseID("yes")),
        ("noSuchButton", Alert("Done"), .choose(button: 0)),
        ("invalid", .yesNo(), .choose(button: nil)),
        ("invalid", .yesNo(), .dismiss),
        ("invalid", .yesNo(), .expireUnattended),
    ]
}

// MARK: - Authority

extension StoreContract {
    static let authority = [
        StoreCheck("Accounts of two hosts with the same number are two askers") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            var ben = Caller.ben
            ben.principal = .account(Account(uid: 1000, name: "ben", host: "nas"))
            let here = try await store.ask(.yesNo(key: "k")).record
            let there = try await store.ask(.yesNo("There?", key: "k"), by: ben).record
            try expect(there.id != here.id, "their keys are their own")
            for record in [here, there] {
                let key = AlertReference.key("k", source: "test", of: record.source.principal)
                try expectEqual(try await other.find(key).record, record, "by key")
                let caller = record.id == here.id ? Caller.ben : ben
                let limited = Question(alert: .yesNo(), source: "test", principalLimit: 1)
                try await expectError("tooManyPendingOfPrincipal") {
                    try await store.enqueue(limited, by: caller)
                }
            }
            for caller in [Caller.ben, .root] {
                try await expectError("notYours") {
                    try await store.resolve(there.id, .withdraw(), by: caller)
                }
            }
            _ = try await store.resolve(there.id, .choose(button: 0), by: ben)
            try await expectError("notYours") { try await store.collect(there.id, by: .ben) }
            let answered = try await other.record(there.id)
            try expectEqual(answered.response?.responder?.account?.host, "nas", "who answered")
            let theirs = HistoryFilter(asker: ben.principal)
            try expectEqual(try await other.history(theirs, limit: 9), [answered], "history")
            for (host, found) in [("nas", [answered]), ("desk", []), ("", [])] {
                let filter = HistoryFilter(user: "ben", userHost: host)
                try expectEqual(
                    try await other.history(filter, limit: 9), found, "by ben of “\(host)”")
            }
            let entry = try require(try await store.entries(of: there.id, limit: 9).last, "entry")
            try expectEqual(entry.event.responder.account?.host, "nas", "in the log")
            try await store.expectSound()
        },
        StoreCheck("A person without an account asks and answers, whatever speaks for them") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let own = try await store.ask(.yesNo(key: "k")).record
            let theirs = try await store.ask(.yesNo("Theirs?", key: "k"), by: .boss()).record
            try expectEqual(
                theirs.source,
                AlertRecord.Source(name: "test", .person("boss"), .device("phone")), "who asked")
            let again = try await other.ask(.yesNo("Theirs?", key: "k"), by: .boss(.token("ci")))
            try expectEqual(again.record, theirs, "asked again with another means")
            let key = AlertReference.key("k", source: "test", of: .person("boss"))
            try expectEqual(try await other.find(key).record, theirs, "by key")
            try await expectError("tooManyPendingOfPrincipal") {
                try await store.ask(principalLimit: 1, by: .boss())
            }
            let ann = Caller(.person("ann"), via: "inbox", means: .link)
            for caller in [Caller.ben, ann] {
                try await expectError("notYours") {
                    try await store.resolve(theirs.id, .withdraw(), by: caller)
                }
            }
            _ = try await store.resolve(own.id, .choose(button: 0), by: .boss())
            _ = try await store.resolve(theirs.id, .choose(button: 1), by: ann)
            try await expectError("notYours") { try await store.collect(theirs.id, by: ann) }
            _ = try await store.collect(theirs.id, by: .boss(.link))
            let (first, second) = (
                try await other.record(own.id), try await other.record(theirs.id)
            )
            try expectEqual(first.response?.responder, .boss(), "who answered")
            try expectEqual(second.response?.responder, ann, "who answered by a link")
            for (filter, found) in [
                (HistoryFilter(user: "person:boss"), [first]), (HistoryFilter(user: "boss"), []),
                (HistoryFilter(asker: .person("boss")), [second]),
                (HistoryFilter(asker: .person("boss"), user: "person:ann"), [second]),
                (HistoryFilter(userHost: ""), []),
            ] {
                try expectEqual(try await other.history(filter, limit: 9), found, "\(filter)")
            }
            let entries = try await store.entries(of: theirs.id, limit: 9)
            try expectEqual(
                entries.map(\.event.responder), [.boss(), ann, .boss(.link)], "in the log")
            try await store.expectSound()
        },
        StoreCheck("Only root or force may withdraw or cancel another account's alert") { queue in
            let store = try await queue.open()
            for make in [
                { Resolution.withdraw($0) }, { Resolution.cancel(handled: false, $0) },
            ] as [@Sendable (Resolution.Authority) -> Resolution] {
                let owner: ResolvedBy = make(.own(.program)) == .withdraw() ? .asker : .system
                for (caller, authority, by) in [
                    (Caller.eve, Resolution.Authority.own(.person), nil),
                    (.eve, .forced(.person), .person), (.eve, .forced(.program), .program),
                    (.root, .own(.program), .program), (.root, .own(.person), .person),
                    (.ana, .own(.person), owner), (.ana, .forced(.person), owner),
                ] as [(Caller, Resolution.Authority, ResolvedBy?)] {
                    let id = try await store.ask(by: .ben).record.id
                    let resolution = make(authority)
                    if let by {
                        let record = try await store.resolve(id, resolution, by: caller)
                        try expectEqual(record.response?.by, by, "by of \(resolution)")
                    } else {
                        let error = try await expectError("notYours") {
                            try await store.resolve(id, resolution, by: caller)
                        }
                        try expectEqual(
                            error, .notYours(id, owner: .account(Account(uid: 1000))), "the error")
                        try await expectError("notYours") {
                            try await store.commit(.requestCancel(id, authority), by: caller)
                        }
                        try expectEqual(try await store.kinds(of: id), [.asked], "entries")
                    }
                }
            }
            // An account that may see a question may answer it.
            let id = try await store.ask(by: .ben).record.id
            try await store.answer(id, 0, by: .eve)
        },
        StoreCheck("Every store sees a request to cancel until the alert has ended") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            let isRequested = { (store: any AlertStore) in
                let found = try await store.find(.id(id))
                let next = try await store.next(ScreenQuery(for: ["x"]))
                return (found.isCancelRequested, next.record != nil && next.isCancelRequested)
            }
            try expect(try await isRequested(store) == (false, false), "no cancel is requested")
            let receipt = try await store.commit(
                .requestCancel(id, .own(.person)), by: .ana)
            try expect(receipt.isNew && receipt.isCancelRequested, "the receipt says so")
            try expect(try await isRequested(other) == (true, true), "it is to be cancelled")
            _ = try await other.resolve(id, .cancel(handled: true, .requested), by: .eve)
            try expect(
                try await !store.find(.id(id)).isCancelRequested, "it has been cancelled")
            let late = try await store.commit(.requestCancel(id, .own(.person)), by: .ana)
            try expect(!late.isNew, "an alert that has ended can't be cancelled")
            try expectEqual(
                try await store.kinds(), [.asked, .cancelling, .resolved], "entries")
        },
        StoreCheck("A cancel is carried out on behalf of the last caller that requested it") {
            queue in
            let store = try await queue.open()
            let id = try await store.ask(by: .ben).record.id
            try await store.requestCancel(id, .own(.person), by: .ana)
            try await store.requestCancel(id, .forced(.person), by: .eve)
            let record = try await store.resolve(
                id, .cancel(handled: true, .requested), by: .ana)
            try expectEqual(record.response?.by, .person, "by")
            try expectEqual(record.response?.responder, Caller.eve.recorded, "responder")
            let entries = try await store.entries(from: 2, limit: 9)
            try expectEqual(entries.map(\.event.by), [.system, .person, .person], "by of entries")
            try expectEqual(
                entries.last?.event.responder, Caller.eve.recorded, "responder of the entry")
            try await store.expectSound()
        },
    ]
}
