import Glibc
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import AlertCore

/// The rules between an alert and its entries, without any store.
@Suite("Trails of alerts", .inParallel)
struct AlertTrailTests {
    /// An alert with a key and a deadline, and the entries of its log.
    private struct Life {
        static let start = ClockReading(
            wallMilliseconds: 1_795_168_800_000, bootMilliseconds: 86_400_000, boot: "boot")

        var record: AlertRecord
        var now = start
        var entries: [AuditEntry] = []
        let expiry = start.advanced(by: .seconds(60))
        private let salt = [UInt8](repeating: 7, count: 16)

        init() {
            let asked = Alert(
                "Delete?", buttons: ["Yes", .cancel("No")], deadline: .after(.seconds(60)),
                defaultButton: "No", key: "k")
            record = AlertRecord(
                id: 1, alert: asked.recorded(source: "test", expiry: expiry),
                source: AlertRecord.Source(
                    name: "test", .account(Account(uid: geteuid())),
                    .process(ProcessIdentity(host: "desk", pid: 4711))),
                state: .queued,
                askedAt: Timestamp.date(milliseconds: Self.start.wallMilliseconds),
                presentedAt: nil, expiresAt: nil, snoozedUntil: nil, snoozes: 0, response: nil)
            record.salt = salt
        }

        var content: [UInt8] { AuditEntry.content(of: record.alert, salt: salt) }

        /// The entry that tells of the response, as a right row names it.
        var resolvedSequence: Int64? {
            record.response.flatMap { _ in
                entries.first { $0.event.kind == .resolved }?.event.sequence
            }
        }

        var stored: StoredAlert {
            StoredAlert(
                record: record, asked: Self.start, expiry: expiry, snoozedUntil: nil,
                resolvedSequence: resolvedSequence)
        }

        mutating func add(
            _ kind: AlertEvent.Kind, content: [UInt8]? = nil, detail: EntryDetail? = nil
        ) {
            var draft = AuditDraft(kind: kind, record: record, content: content, detail: detail)
            switch kind {
            case .asked:
                draft.content = content ?? self.content
                draft.detail = .asked(
                    EntryDetail.Asked(
                        at: Self.start, expiry: expiry, of: record.alert, isAwaited: false,
                        leaves: AuditEntry.leaves(of: record.alert),
                        key: KeyDigest(of: record.alert, source: "test")))
            case .presented, .snoozed: draft.content = content ?? self.content
            case .resolved:
                draft = AuditDraft(
                    kind: kind, record: record, response: response,
                    content: content ?? self.content, detail: detail)
            default: break
            }
            let head = entries.last.map {
                AuditHead(sequence: $0.event.sequence, hash: $0.hash)
            }
            entries.append(draft.entry(after: head ?? .start, at: now, by: .ana))
        }

        var outcome = Outcome.answered

        var response: Response {
            let isAnswer = outcome == .answered
            return Response(
                alertID: 1, outcome: outcome, buttonIndex: isAnswer ? 0 : -1,
                button: isAnswer ? record.alert.buttons[0] : nil,
                by: .person, responder: Caller.ana.recorded,
                resolvedAt: Timestamp.date(milliseconds: now.wallMilliseconds), collectedAt: nil,
                userInfo: [:])
        }

        var trail: AlertTrail {
            entries.reduce(into: AlertTrail(of: 1)) { trail, entry in trail.add(entry) }
        }

        /// What is wrong, each with the entry that says so.
        var faults: [String] {
            let faults = trail.allFaults(of: stored, at: now)
            return faults.map { fault in "\(fault.sequence.map(String.init) ?? "-") \(fault.what)" }
        }
    }

    @Test("An answered alert agrees with its entries, after each of them")
    func right() {
        var life = Life()
        life.add(.asked)
        #expect(life.faults == [])
        life.add(.presented)
        life.record = life.record.with(presentedAt: life.now)
        #expect(life.faults == [])
        life.add(.returned)
        life.add(.resolved)
        life.record.response = life.response
        #expect(life.faults == [])
        life.add(.collected)
        life.record.response = life.response.collected(at: life.response.resolvedAt)
        life.add(.ran, content: life.content, detail: .ran(.started(allowsDefault: false)))
        life.add(.ran, detail: .ran(.exited(status: 0)))
        #expect(life.faults == [])
    }

    @Test("A second start of a command is named, and an end without a start")
    func runs() {
        var life = Life()
        life.add(.asked)
        life.add(.resolved)
        life.record.response = life.response
        life.add(.collected)
        life.record.response = life.response.collected(at: life.response.resolvedAt)
        let unstarted = {
            var life = life
            life.add(.ran, detail: .ran(.exited(status: 0)))
            return life.faults
        }
        #expect(unstarted() == ["4 has the end of a command that was not started"])
        for _ in 1...2 {
            life.add(.ran, content: life.content, detail: .ran(.started(allowsDefault: false)))
        }
        #expect(life.faults == ["5 allowed a command to start again"])
    }

    @Test(
        "Entries in an impossible order are named",
        arguments: [
            ([.resolved], "- was never asked: no entry records it"),
            ([.asked, .asked], "2 was already asked by entry 1, and again by entry 2"),
            ([.asked, .collected], "2 was collected before it had a response"),
            ([.asked, .ran], "2 allowed a command to run before its response was collected"),
            ([.asked, .resolved], "2 waits, but entry 2 says that it ended"),
            ([.asked, .presented], "- has a time of presentation that the log doesn't record"),
            (
                [.asked, .snoozed],
                "- was snoozed 1 times according to the log, but 0 times according to its row"
            ),
        ] as [([AlertEvent.Kind], String)])
    func order(kinds: [AlertEvent.Kind], fault: String) {
        var life = Life()
        for kind in kinds { life.add(kind) }
        #expect(life.faults.first == fault, "\(life.faults)")
    }

    @Test("The entry that says how an alert ended is named if the alert names another one, or none")
    func end() {
        var life = Life()
        life.add(.asked)
        life.add(.resolved)
        life.record.response = life.response
        for sequence in [nil, 1, 3] as [Int64?] {
            let stored = StoredAlert(
                record: life.record, asked: Life.start, expiry: life.expiry, snoozedUntil: nil,
                resolvedSequence: sequence)
            let faults = life.trail.faults(of: stored)
            #expect(faults.map(\.what) == ["does not name entry 2, which says how it ended"])
            #expect(faults.map(\.sequence) == [2])
        }
    }

    @Test("The alert that took another's place is the one of its entry, which comes after its end")
    func superseded() {
        let differs = "- differs from the log in which alert was asked in its place"
        for (outcome, successor, told, isRight) in [
            (.withdrawn, 2, 2, true), (.answered, 2, 2, true),
            (.withdrawn, 3, 2, false), (.withdrawn, nil, 2, false),
            (.answered, 2, nil, false), (.withdrawn, nil, nil, true),
        ] as [(Outcome, Alert.ID?, Alert.ID?, Bool)] {
            var life = Life()
            life.add(.asked)
            life.outcome = outcome
            life.add(.resolved)
            life.record.response = life.response
            life.record.response?.supersededBy = successor
            if let told { life.add(.superseded, detail: .superseded(by: told)) }
            #expect(life.faults == (isRight ? [] : [differs]), "\(successor as Any)")
        }
        var waiting = Life()
        waiting.add(.asked)
        waiting.add(.superseded, detail: .superseded(by: 2))
        #expect(waiting.faults.first == "2 was superseded before it had ended")
    }

    @Test(
        "An entry about something other than what was asked is named",
        arguments: [
            (AlertEvent.Kind.presented, "presented"), (.snoozed, "snoozed"),
            (.resolved, "resolved"), (.ran, "run"),
        ])
    func content(kind: AlertEvent.Kind, word: String) {
        var life = Life()
        life.add(.asked)
        life.add(kind, content: [UInt8](repeating: 1, count: 32))
        #expect(
            life.faults.contains("2 was changed: it is not what entry 2 says was \(word)"),
            "\(life.faults)")
    }

    @Test("The verifier names a missing, a changed and a replaced entry, and nothing else")
    func chain() {
        var life = Life()
        for kind in [.asked, .presented, .returned, .resolved] as [AlertEvent.Kind] {
            life.add(kind)
        }
        let input = HashInput()
        func problems(_ entries: [AuditEntry]) -> [String] {
            var verifier = AuditVerifier(expecting: nil)
            for entry in entries { verifier.add(LoggedEntry(entry, input)) }
            verifier.end()
            return verifier.report.problems.map(\.reason)
        }
        #expect(problems(life.entries) == [])
        #expect(
            problems([life.entries[0], life.entries[2], life.entries[3]]) == ["entry 2 is missing"])
        // Both ends of a gap, so that one that was known can't grow.
        #expect(
            problems([life.entries[0], life.entries[3]])
                == ["entry 2 is missing", "entry 3 is missing"])
        var changed = life.entries
        changed[1].event.title = "Not a part of the hash"
        #expect(problems(changed) == [])
        changed[1].hash[0] ^= 1
        #expect(
            problems(changed) == [
                "entry 2 was changed",
                "entry 3 does not continue entry 2: one of them was replaced",
            ])
    }
}

extension AlertRecord {
    fileprivate func with(presentedAt now: ClockReading) -> AlertRecord {
        var record = AlertRecord(
            id: id, alert: alert, source: source, state: state, askedAt: askedAt,
            presentedAt: Timestamp.date(milliseconds: now.wallMilliseconds), expiresAt: expiresAt,
            snoozedUntil: snoozedUntil, snoozes: snoozes, response: response)
        record.salt = salt
        return record
    }
}
