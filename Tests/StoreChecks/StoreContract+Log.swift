import AlertCore
import AlertQueueTesting
import TextFormats

extension StoreContract {
    static let log = [
        StoreCheck("The log has one entry for each change, in order, with its caller") { queue in
            let store = try await queue.open()
            try await lifeOfTwo(on: store, queue.clock)
            let entries = try await store.entries(limit: 100)
            try expectEqual(
                entries.map(\.event.kind),
                [
                    .asked, .asked, .presented, .snoozed, .cancelling, .resolved, .collected,
                    .resolved,
                ],
                "kinds")
            try expectEqual(
                entries.map(\.event.sequence), Array(1...Int64(entries.count)), "numbers")
            try expectEqual(
                entries.map(\.event.alertID), [1, 2, 1, 1, 1, 1, 1, 2], "alerts")
            try expectEqual(
                entries.map(\.event.responder.principal.user),
                ["ben", "eve", "ana", "ana", "ben", "ana", "ben", "eve"], "by whom")
            try expectEqual(
                entries.map(\.event.by), [nil, nil, nil, nil, .system, .person, nil, .asker], "by")
            try expectEqual(
                entries.map(\.title), ["One", "Two", "One", "One", "One", "One", "One", "Two"],
                "titles")
            try expectEqual(entries[5].event.key, "k", "key")
            try expectEqual(entries[5].button, "Yes", "the chosen button")
            try expectEqual(entries[0].loginUID, nil, "login uid of ben")
            try expectEqual(entries[2].loginUID, 1001, "login uid of ana")
            try expectEqual(entries[2].session, 7, "session of ana")
            let seen = try await store.record(1).seen
            for index in [0, 2, 3, 5] {
                try expectEqual(entries[index].content.map(Hex.text), seen, "content")
            }
            try expect(entries[4].content == nil && entries[6].content == nil, "no content")
        },
        StoreCheck("The entries of the log form a chain of hashes") { queue in
            let store = try await queue.open()
            try await lifeOfTwo(on: store, queue.clock)
            var last = AuditHead.start
            for entry in try await store.entries(limit: 100) {
                try entry.checkHash()
                try entry.checkLink(after: last)
                last = entry.event.cursor
            }
            try expectEqual(try await store.auditHead(), last, "the head")
            try expectEqual(store.position.head.sequence, last.sequence, "the position")
        },
        StoreCheck(
            "Entries can be read after another, from a number or from the end, for all or one alert"
        ) {
            queue in
            let store = try await queue.open()
            try await lifeOfTwo(on: store, queue.clock)
            let heads = [.start] + (try await store.entries(limit: 9).map(\.event.cursor))
            for (query, numbers) in [
                (LogQuery(.after(heads[0]), limit: 3), [1, 2, 3]),
                (LogQuery(.after(heads[6]), limit: 9), [7, 8]),
                (LogQuery(.after(heads[8]), limit: 9), []),
                (LogQuery(.after(heads[1]), of: 2, limit: 9), [2, 8]),
                (LogQuery(.after(heads[2]), of: 2, limit: 9), [8]),
                (LogQuery(.after(heads[0]), of: 9, limit: 9), []),
                (LogQuery(.from(7), limit: 9), [7, 8]), (LogQuery(.from(99), limit: 9), []),
                (LogQuery(.from(-5), limit: 2), [1, 2]),
                (LogQuery(.from(2), of: 2, limit: 9), [2, 8]),
                (LogQuery(.last(3), limit: 9), [6, 7, 8]), (LogQuery(.last(3), limit: 2), [6, 7]),
                (LogQuery(.last(2), of: 1, limit: 9), [6, 7]),
                (LogQuery(.last(99), of: 2, limit: 9), [2, 8]),
            ] as [(LogQuery, [Int64])] {
                let entries = try await store.entries(query)
                try expectEqual(entries.map(\.event.sequence), numbers, "\(query)")
            }
            for head in try await unknown(to: store) {
                let error = try await expectError("unknownCursor") {
                    try await store.entries(after: head, limit: 9)
                }
                try expectEqual(error, .unknownCursor(head, end: 8), "the error")
            }
        },
        StoreCheck("A sound log passes verification, and only with a head that it contains") {
            queue in
            let store = try await queue.open()
            let empty = try await store.verify(expecting: nil)
            try expect(empty.problems.isEmpty && empty.head == nil, "an empty log is sound")
            try expect(try await store.auditHead() == nil, "an empty log has no head")
            try await lifeOfTwo(on: store, queue.clock)
            let heads = try await store.entries(limit: 100).map {
                $0.event.cursor
            }
            for head in heads {
                let report = try await store.verify(expecting: head)
                try expectEqual(report.problems.map(\.reason), [], "problems")
                try expectEqual(report.entries, 8, "entries")
                try expectEqual(report.head, heads.last, "the head")
            }
            for head in [
                AuditHead(sequence: 8, hash: heads[0].hash),
                AuditHead(sequence: 9, hash: heads[7].hash),
            ] {
                let report = try await store.verify(expecting: head)
                try expectEqual(report.problems.count, 1, "problems with \(head.text)")
                try expectEqual(report.problems.first?.sequence, head.sequence, "where")
            }
        },
        StoreCheck("Cancelling its task stops a verification and a count") { queue in
            let store = try await queue.open()
            try await lifeOfTwo(on: store, queue.clock)
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await expectError("cancelled") { try await store.verify(expecting: nil) }
                try await expectError("cancelled") {
                    try await store.statistics(StatisticsQuery()) { _, _ in }
                }
            }
            try await cancelled.value
        },
    ]

    static let posted = [
        StoreCheck("Notes are written in order, and before any later answer") { queue in
            let store = try await queue.open()
            let record = try await store.ask().record
            let next = try await store.ask().record
            let moment = queue.clock.now()
            store.post(.presented(record), by: .ana)
            queue.clock.advance(by: .milliseconds(7))
            store.post(.returned(record, because: .reason(.detached)), by: .ana)
            store.post(.presented(record), by: .eve)
            try await store.answer(record.id)
            store.post(.collected(record.id), by: .ben)
            try await store.answer(next.id)
            let entries = try await store.entries(from: 2, limit: 9)
            try expectEqual(
                entries.map(\.event.kind),
                [.asked, .presented, .returned, .presented, .resolved, .collected, .resolved],
                "entries")
            // A service learns of it a little later.
            let milliseconds = Timestamp.milliseconds(entries[1].event.at)
            try expect(
                (0...7).contains(milliseconds - moment.wallMilliseconds), "when it was presented")
            try expectEqual(
                entries[2].meaning, .returned(.reason(.detached)), "why it was returned")
            try expectEqual(
                try await store.record(1).presentedAt, entries[3].event.at, "the last time")
            try await store.expectSound()
        },
        StoreCheck("Notes are written soon even if nothing is committed") { queue in
            let store = try await queue.open()
            let record = try await store.ask().record
            store.post(.presented(record), by: .ana)
            try await expectSoon("the note is written") { try await store.kinds().count == 2 }
        },
        StoreCheck("A store has written all posted entries when it is closed") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let record = try await store.ask().record
            try await store.answer(record.id)
            for number in 0..<20 {
                store.post(.returned(record, because: .failed("\(number)")), by: .ana)
            }
            store.post(.collected(record.id), by: .ben)
            await store.close()
            let entries = try await other.entries(from: 3, limit: 100)
            try expectEqual(
                entries.map(\.meaning), (0..<20).map { .returned(.failed("\($0)")) } + [nil],
                "the posted entries")
            try await other.expectSound()
        },
        StoreCheck("The log records what was shown, even if it differs from what was asked") {
            queue in
            let store = try await queue.open()
            let record = try await store.ask(.yesNo("Asked")).record
            var shown = AlertRecord(
                id: record.id, alert: .yesNo("Shown"), source: record.source, state: .queued,
                askedAt: record.askedAt, presentedAt: nil, expiresAt: nil, snoozedUntil: nil,
                snoozes: 0, response: nil)
            shown.salt = record.salt
            store.post(.presented(shown), by: .ana)
            try await store.answer(record.id)
            let entries = try await store.entries(from: 2, limit: 9)
            try expectEqual(entries.first?.content.map(Hex.text), shown.seen, "what was shown")
            try expectEqual(entries.last?.content.map(Hex.text), record.seen, "what was asked")
            let report = try await store.verify(expecting: nil)
            try expect(!report.problems.isEmpty, "the verification reports it")
        },
        StoreCheck("A posted entry about an unknown alert, or about no response, stores nothing") {
            queue in
            let store = try await queue.open()
            let record = try await store.ask().record
            store.post(.collected(9), by: .ana)
            store.post(.collected(record.id), by: .ana)
            try await store.answer(record.id)
            try expectEqual(try await store.kinds(), [.asked, .resolved], "entries")
            try expect(
                try await store.record(record.id).response?.collectedAt == nil, "uncollected")
        },
    ]

    /// Two alerts to which everything happens, in eight entries.
    private static func lifeOfTwo(on store: any AlertStore, _ clock: ManualClock) async throws {
        let one = try await store.ask(.yesNo("One", key: "k"), by: .ben).record
        try await store.ask(.yesNo("Two"), by: .eve)
        store.post(.presented(one), by: .ana)
        _ = try await store.snooze(one.id, for: .seconds(60), by: .ana)
        try await store.requestCancel(one.id, .own(.program), by: .ben)
        try await store.answer(one.id, 0, by: .ana)
        try await store.collect(one.id, by: .ben)
        _ = try await store.resolve(2, .withdraw(), by: .eve)
    }
}
