import AlertCore

extension StoreContract {
    static let waiting = [
        StoreCheck("A question is orphaned ten seconds after its ask, unless somebody waits") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.askAndWait().record.id
            try await expectOrphan(id, false, to: store, other)
            queue.clock.advance(by: .milliseconds(9999))
            try await expectOrphan(id, false, to: store, other)
            queue.clock.advance(by: .milliseconds(1))
            try await expectOrphan(id, true, to: store, other)
            let wait = try require(try await store.lease(id, for: .waiting), "lease")
            try await expectOrphan(id, false, to: store, other)
            wait.end()
            try await expectOrphan(id, true, to: store, other)
        },
        StoreCheck("The time in which a question is not orphaned follows the boot clock") { queue in
            let store = try await queue.open()
            let id = try await store.askAndWait().record.id
            let wall = queue.clock.now().wallMilliseconds
            queue.clock.setWall(milliseconds: wall + 60_000)
            try await expectOrphan(id, false, to: store)
            queue.clock.setWall(milliseconds: wall - 60_000)
            queue.clock.advance(by: .seconds(10))
            try await expectOrphan(id, true, to: store)
        },
        StoreCheck("Any number of calls may wait for an alert, and the last one to end counts") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let (id, next) = (
                try await store.askAndWait().record.id, try await store.askAndWait().record.id
            )
            queue.clock.advance(by: .seconds(10))
            let first = try require(try await store.lease(id, for: .waiting), "lease")
            let second = try require(try await store.lease(id, for: .waiting), "second lease")
            let third = try require(try await other.lease(id, for: .waiting), "lease of another")
            try await expectOrphan(next, true, to: store, other)
            first.end()
            // A second end has no effect.
            first.end()
            try await expectOrphan(id, false, to: store, other)
            third.end()
            try await expectOrphan(id, false, to: store, other)
            second.end()
            try await expectOrphan(id, true, to: store, other)
        },
        StoreCheck("Waiting for an alert and handling it don't exclude each other") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.askAndWait().record.id
            queue.clock.advance(by: .seconds(10))
            let turn = try require(try await store.lease(id), "turn")
            try await expectOrphan(id, true, to: store, other)
            let wait = try require(try await other.lease(id, for: .waiting), "lease")
            turn.end()
            let second = try require(try await store.lease(id), "turn while another one waits")
            second.end()
            try await expectOrphan(id, false, to: store, other)
            wait.end()
        },
        StoreCheck("A withdrawal of orphans leaves alone what somebody waits for by then") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let orphan = Resolution.withdraw(because: "gone", onlyIfOrphaned: true)
            let ids = [
                try await store.askAndWait().record.id, try await store.ask().record.id,
                try await store.askAndWait().record.id,
            ]
            let changes = ids.map { Change.resolve($0, orphan) }
            for receipt in try await store.commit(changes, by: .ben).map({ try $0.get() }) {
                try expect(!receipt.isNew && receipt.record.response == nil, "it is too early")
            }
            queue.clock.advance(by: .seconds(10))
            let wait = try require(try await other.lease(ids[2], for: .waiting), "lease")
            let results = try await store.commit(changes, by: .ben).map { try $0.get() }
            try expectEqual(results.map(\.isNew), [true, false, false], "what is withdrawn")
            try expectEqual(
                results.map(\.record.response?.outcome), [.withdrawn, nil, nil], "the outcomes")
            let kept = try await store.resolve(ids[2], orphan, by: .ben)
            try expect(kept.response == nil, "somebody waits for the last one")
            wait.end()
            try await expectSoon("the last one is withdrawn") {
                let last = try await store.resolve(ids[2], orphan, by: .ben)
                return last.response?.outcome == .withdrawn
            }
            try expectEqual(
                try await store.entries(after: .start, limit: 9).suffix(2).map(\.note),
                ["gone", "gone"],
                "what the log says")
            try await expectError("alreadyResolved") {
                try await store.resolve(ids[0], orphan, by: .ben)
            }
            try await store.expectSound()
        },
        StoreCheck("A closed store no longer waits") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.askAndWait().record.id
            queue.clock.advance(by: .seconds(10))
            let wait = try require(try await store.lease(id, for: .waiting), "lease")
            try await expectOrphan(id, false, to: other)
            wait.end()
            await store.close()
            try await expectOrphan(id, true, to: other)
            try await expectError("closed") { try await store.lease(id, for: .waiting) }
        },
        StoreCheck("What was asked without waiting, names a handler or has ended isn't orphaned") {
            queue in
            let store = try await queue.open()
            var handled = Alert.yesNo()
            handled.handler = "handler"
            let ids = [
                try await store.ask().record.id, try await store.askAndWait(handled).record.id,
            ]
            let ended = try await store.askAndWait().record.id
            let late = try await store.askAndWait(.yesNo(deadline: .after(.seconds(11)))).record.id
            queue.clock.advance(by: .seconds(10))
            for id in ids { try await expectOrphan(id, false, to: store) }
            for id in [ended, late] { try await expectOrphan(id, true, to: store) }
            try expect(try await !store.answer(ended).isOrphaned, "an answered one is not")
            queue.clock.advance(by: .seconds(1))
            for id in [ended, late] {
                let record = try await store.record(id)
                try expect(record.response != nil && !record.isOrphaned, "an ended one is not")
            }
            let history = try await store.history(HistoryFilter(), limit: 9)
            try expect(!history.contains(where: \.isOrphaned), "nor is one in the history")
        },
        StoreCheck("A snoozed question may be orphaned") { queue in
            let store = try await queue.open()
            let id = try await store.askAndWait().record.id
            _ = try await store.snooze(id, for: .seconds(60), by: .ana)
            queue.clock.advance(by: .seconds(10))
            try expect(try await store.record(id).isOrphaned, "the record")
            try expectEqual(
                try await store.pending(limit: 9).map(\.isOrphaned), [true], "in the list")
        },
        StoreCheck("Joining an alert does not change whether its asker waits") { queue in
            let store = try await queue.open()
            let left = try await store.ask(.yesNo(key: "left")).record.id
            let awaited = try await store.askAndWait(.yesNo(key: "awaited")).record.id
            let joined = [
                try await store.askAndWait(.yesNo(key: "left")),
                try await store.ask(.yesNo(key: "awaited")),
            ]
            try expectEqual(joined.map(\.record.id), [left, awaited], "the alerts")
            try expect(!joined.contains(where: \.isNew), "they are joined")
            queue.clock.advance(by: .seconds(10))
            try await expectOrphan(left, false, to: store)
            try await expectOrphan(awaited, true, to: store)
            try await store.expectSound()
        },
        StoreCheck("The log records which askers wait, and agrees with the alerts") { queue in
            let store = try await queue.open()
            try await store.ask()
            try await store.askAndWait()
            let entries = try await store.entries(limit: 9)
            try expectEqual(entries.map(\.asked?.isAwaited), [false, true], "who waits")
            try await store.expectSound()
        },
    ]

    /// Checks whether an alert is orphaned, for each way to read it.
    private static func expectOrphan(
        _ id: Alert.ID, _ isOrphaned: Bool, to stores: any AlertStore...,
        file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        for store in stores {
            // A lease that has ended may count for a moment.
            try await expectSoon("it is orphaned: \(isOrphaned)", file: file, line: line) {
                try await store.record(id).isOrphaned == isOrphaned
            }
            let listed = try await store.pending(limit: 9).first { $0.id == id }
            try expectEqual(
                listed?.isOrphaned, isOrphaned, "whether it is listed as orphaned", file: file,
                line: line)
            let shown = try await store.next(ScreenQuery(for: [], own: [id])).record
            try expectEqual(
                shown?.isOrphaned, isOrphaned, "whether it is shown as orphaned", file: file,
                line: line)
        }
    }
}

extension AlertStore {
    /// Asks as an asker does that waits for the response.
    @discardableResult
    fileprivate nonisolated(nonsending) func askAndWait(
        _ alert: Alert = .yesNo()
    ) async throws(AlertError) -> Receipt {
        try await enqueue(Question(alert: alert, source: "test", isAwaited: true), by: .ben)
    }
}
