import AlertCore
import TextFormats

extension StoreContract {
    static let claims = [
        StoreCheck("A claim is read wherever the alert is, until it lapses") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let ids = [try await store.ask().record.id, try await store.ask().record.id]
            let receipt = try await store.commit(
                .claim(ids[0], until: .after(.seconds(60)), isForced: false), by: .ana)
            try expect(receipt.isNew, "it takes effect")
            let end = queue.clock.now().wallMilliseconds + 60_000
            try await expectClaim(of: ids[0], by: .ana, until: end, on: store, other)
            try await expectClaim(of: ids[1], by: nil, until: 0, on: store, other)
            // By the boot clock, however the wall clock is set.
            queue.clock.setWall(milliseconds: end + 60_000)
            try await expectClaim(of: ids[0], by: .ana, until: end, on: store, other)
            queue.clock.advance(by: .milliseconds(59_999))
            try await expectClaim(of: ids[0], by: .ana, until: end, on: store, other)
            queue.clock.advance(by: .milliseconds(1))
            try await expectClaim(of: ids[0], by: nil, until: 0, on: store, other)
            try expectEqual(try await store.kinds(of: ids[0]), [.asked, .claimed], "entries")
            try await store.expectSound()
        },
        StoreCheck("Only its principal renews or ends a claim, unless by force") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            _ = try await store.commit(.claim(id, until: nil, isForced: false), by: .ana)
            let end = queue.clock.now().wallMilliseconds + 15 * 60_000
            for change in [
                Change.claim(id, until: nil, isForced: false), .release(id, isForced: false),
            ] {
                let error = try await expectError("claimed") {
                    try await other.commit(change, by: .boss())
                }
                guard case .claimed(id, let claim) = error else {
                    throw ContractFailure(description: "\(error)")
                }
                try expectEqual(claim.by.principal, Caller.ana.principal, "whose it is")
            }
            try await expectClaim(of: id, by: .ana, until: end, on: store, other)
            // Another process of the same account, in the same transaction as others.
            let ana = Caller.ana.through("claim")
            let results = try await other.commit(
                [
                    .claim(id, until: .after(.seconds(5)), isForced: false),
                    .claim(id, until: .after(.seconds(7)), isForced: false),
                    .release(id, isForced: false),
                    .release(id, isForced: false),
                ], by: ana)
            try expectEqual(
                try results.map { try $0.get().isNew }, [true, true, true, false], "new")
            try await expectClaim(of: id, by: nil, until: 0, on: store, other)
            _ = try await store.commit(.claim(id, until: nil, isForced: false), by: .ana)
            _ = try await other.commit(.claim(id, until: nil, isForced: true), by: .boss())
            try await expectClaim(of: id, by: .boss(), until: end, on: store, other)
            _ = try await store.commit(.release(id, isForced: true), by: .ana)
            try await expectClaim(of: id, by: nil, until: 0, on: store, other)
            try expectEqual(
                try await store.kinds(of: id),
                [
                    .asked, .claimed, .claimed, .claimed, .released, .claimed, .claimed, .released,
                ], "entries")
            try await store.expectSound()
        },
        StoreCheck("Of two principals that claim an alert at once, one is refused") { queue in
            let store = try await queue.open()
            let id = try await store.ask().record.id
            async let first = store.commit(.claim(id, until: nil, isForced: false), by: .ana)
            async let second = store.commit(.claim(id, until: nil, isForced: false), by: .boss())
            var refused = 0
            do { _ = try await first } catch AlertError.claimed { refused += 1 }
            do { _ = try await second } catch AlertError.claimed { refused += 1 }
            try expectEqual(refused, 1, "refused")
        },
        StoreCheck("A claim ends with its alert, answers nothing, and is refused after the end") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            _ = try await store.commit(.claim(id, until: nil, isForced: false), by: .ana)
            _ = try await store.snooze(id, until: .after(.seconds(1)), by: .ben)
            try expectEqual(
                try await other.record(id).claim?.by.principal, Caller.ana.principal, "snoozed")
            try await store.answer(id, by: .ben)
            for reader in [store, other] {
                try expect(try await reader.record(id).claim == nil, "it is over")
                let page = try await reader.history(HistoryFilter(), limit: 9)
                try expect(page.allSatisfy { $0.claim == nil }, "nor in the history")
            }
            for change in [
                Change.claim(id, until: nil, isForced: true), .release(id, isForced: true),
            ] {
                try await expectError("alreadyResolved") {
                    try await store.commit(change, by: .ana)
                }
            }
            try await expectError("notFound") {
                try await store.commit(.claim(99, until: nil, isForced: false), by: .ana)
            }
            let next = try await store.ask().record.id
            try await expectError("invalid") {
                try await store.commit(
                    .claim(next, until: .after(.zero), isForced: false), by: .ana)
            }
            try await store.expectSound()
        },
    ]

    /// Makes sure that each way of reading an alert finds its claim.
    private static func expectClaim(
        of id: Alert.ID, by caller: Caller?, until end: Int64, on stores: any AlertStore...
    ) async throws {
        for store in stores {
            let listed = try await store.pending(limit: 9).first { $0.id == id }
            let shown = try await store.next(ScreenQuery(for: [], own: [id])).record
            for record in [try await store.record(id), try require(listed, "listed"), shown] {
                let claim = try require(record, "record").claim
                try expectEqual(claim?.by.principal, caller?.principal, "who has it")
                try expectEqual(
                    claim.map { Timestamp.milliseconds($0.until) }, caller.map { _ in end }, "end")
            }
        }
    }
}
