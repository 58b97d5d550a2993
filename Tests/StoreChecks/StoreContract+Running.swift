import AlertCore

extension StoreContract {
    static let running = [
        StoreCheck("Of 32 simultaneous starts for one answer, one takes effect") { queue in
            let stores = [try await queue.open(), try await queue.open()]
            let id = try await stores[0].ask().record.id
            let start = Change.run(id, .started(allowsDefault: false))
            try expect(try await !stores[0].commit(start, by: .ana).isNew, "no answer yet")
            let early = try await stores[0].commit(.run(id, .exited(status: 0)), by: .ana)
            try expect(!early.isNew, "nothing has started")
            try await stores[0].answer(id)
            let starts = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        try await stores[number % 2].commit(start, by: .ana).isNew
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            try expectEqual(starts, 1, "starts")
            try await expectError("notYours") {
                try await stores[1].commit(.run(id, .exited(status: 0)), by: .eve)
            }
            let end = try await stores[1].commit(.run(id, .exited(status: 3)), by: .ana)
            try expect(end.isNew && end.record.response?.collectedAt != nil, "it is collected")
            let entries = try await stores[0].entries(of: id, limit: 9)
            try expectEqual(
                entries.map(\.event.kind), [.asked, .resolved, .collected, .ran, .ran], "entries")
            try expectEqual(
                entries.suffix(2).map(\.meaning),
                [.ran(.started(allowsDefault: false)), .ran(.exited(status: 3))], "details")
            try expectEqual(entries[3].content, entries[0].content, "what was approved")
            try expectEqual(entries[3].event.responder, Caller.ana.recorded, "by whom")
            try await stores[0].expectSound()
        },
        StoreCheck("Only a yes that nobody has collected allows a start") { queue in
            let store = try await queue.open()
            let ends: [Resolution] = [
                .choose(button: 1), .cancel(handled: false), .withdraw(.forced(.program)),
            ]
            for end in ends {
                let id = try await store.ask().record.id
                _ = try await store.resolve(id, end, by: .ben)
                let step = RunStep.started(allowsDefault: true)
                let receipt = try await store.commit(.run(id, step), by: .ana)
                try expect(!receipt.isNew, "\(end) allows nothing")
                try expect(receipt.record.response?.collectedAt == nil, "nor is it collected")
                try expectEqual(try await store.kinds(of: id), [.asked, .resolved], "entries")
            }
            let id = try await store.ask().record.id
            try await store.answer(id)
            try await store.collect(id, by: .ana)
            let receipt = try await store.commit(
                .run(id, .started(allowsDefault: false)), by: .ana)
            try expect(!receipt.isNew, "it was used before")
            let end = try await store.commit(.run(id, .exited(status: 0)), by: .ana)
            try expect(!end.isNew, "nothing was started that could end")
            try expectEqual(try await store.kinds(of: id).last, .collected, "entries")
            try await store.expectSound()
        },
        StoreCheck("A default allows a start only if that was said") { queue in
            let store = try await queue.open()
            var alert = Alert.yesNo()
            (alert.deadline, alert.defaultButton) = (.after(.seconds(5)), "Yes")
            let id = try await store.ask(alert).record.id
            queue.clock.advance(by: .seconds(6))
            _ = try await store.expired(id)
            for (allowsDefault, isNew) in [(false, false), (true, true), (true, false)] {
                let step = RunStep.started(allowsDefault: allowsDefault)
                let receipt = try await store.commit(.run(id, step), by: .ana)
                try expectEqual(receipt.isNew, isNew, "whether it starts")
            }
            try await store.expectSound()
        },
    ]
}
