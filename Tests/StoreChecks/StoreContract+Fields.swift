import AlertCore

extension StoreContract {
    static let fields = [
        StoreCheck("Fields come back as they were asked, and values and a note as they were given")
        {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let asked = try await store.ask(form).record
            try expect(asked.alert.fields == form.fields, "fields when asked")
            let input = Alert.Input(
                values: [
                    "name": .text("a\nb\t\u{202E}é"), "copies": .integer(2), "ratio": .number(0.25),
                    "tags": .list(["x", "z"]),
                ], note: "after the release")
            let answered = try await other.resolve(
                asked.id, .chooseID("yes", .person, input), by: .ana)
            var expected = input
            expected.values["keep"] = .boolean(true)
            try expectEqual(answered.response?.input, expected, "input in the receipt")
            for store in [store, other] {
                let record = try await store.record(asked.id)
                try expectEqual(record.alert.fields, form.fields, "fields when read")
                try expectEqual(record.response?.input, expected, "input when read")
            }
            try await store.expectSound()
        },
        StoreCheck("A value that does not fit is refused, and the alert waits") { queue in
            let store = try await queue.open()
            let id = try await store.ask(form).record.id
            for values: [String: Alert.Value] in [
                [:], ["name": .text("n"), "copies": .integer(9)],
                ["name": .text("n"), "other": .text("x")], ["name": .integer(1)],
            ] {
                let choice = Resolution.choose(button: 0, .person, Alert.Input(values: values))
                try await expectError("invalid") { try await store.resolve(id, choice, by: .ana) }
            }
            try expect(try await store.record(id).response == nil, "it waits")
            // The cancel button needs no value, and has no initial ones.
            let cancelled = try await store.answer(id, 1)
            try expectEqual(cancelled.response?.input, Alert.Input(), "input of a cancel")
            try await store.expectSound()
        },
        StoreCheck("A note goes with the dismissal of a notice, too") { queue in
            let store = try await queue.open()
            let id = try await store.ask(Alert("notice")).record.id
            let input = Alert.Input(note: "seen")
            let closed = try await store.resolve(
                id, .choose(button: nil, .person, input), by: .ana)
            try expectEqual(closed.response?.note, "seen", "note")
            try await store.expectSound()
        },
        StoreCheck("A key belongs to a question with its fields") { queue in
            let store = try await queue.open()
            var alert = form
            alert.key = "k"
            let id = try await store.ask(alert).record.id
            try expectEqual(try await store.ask(alert).record.id, id, "the joined alert")
            alert.fields[0].title = "Another"
            let error = try await expectError("keyConflict") { try await store.ask(alert) }
            try expectEqual(error, .keyConflict("k", id, part: "set of fields"), "the error")
        },
        StoreCheck("A search finds the words of values and notes") { queue in
            let store = try await queue.open()
            let id = try await store.ask(form).record.id
            let input = Alert.Input(values: ["name": .text("heron")], note: "blue kite")
            _ = try await store.resolve(id, .choose(button: 0, .person, input), by: .ana)
            for (text, isFound) in [("heron", true), ("kite heron", true), ("crane", false)] {
                let found = try await store.history(HistoryFilter(text: text), limit: 9)
                try expectEqual(found.map(\.id), isFound ? [id] : [], "found with “\(text)”")
            }
        },
    ]

    private static let form = Alert(
        "Rename?", buttons: [Alert.Button("Rename", id: "yes"), .cancel("Keep")],
        fields: [
            Alert.Field("name", .text(.init(isMultiline: true)), isRequired: true),
            Alert.Field("copies", .integer(1...3)), Alert.Field("ratio", .number(0...1)),
            Alert.Field("keep", .boolean, initialValue: .boolean(true)),
            Alert.Field("tags", .choices(["x", .init("Why", id: "y"), "z"], count: 0...2)),
        ])
}
