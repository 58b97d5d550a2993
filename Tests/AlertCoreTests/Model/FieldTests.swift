import Foundation
import TestSupport
import Testing
import TextFormats

@testable import AlertCore

@Suite("Fields", .inParallel)
struct FieldTests {
    private static let options: [Alert.Field.Option] = ["sda", .init("The second", id: "sdb")]

    private static let fields: [Alert.Field] = [
        Alert.Field("name", title: "Name", isRequired: true, placeholder: "backup"),
        Alert.Field(
            "code", .text(Alert.Field.TextRules(length: 2...4, pattern: "^[a-z]+$")), detail: "d"),
        Alert.Field("text", .text(Alert.Field.TextRules(isMultiline: true))),
        Alert.Field("copies", .integer(1...3), initialValue: .integer(1)),
        Alert.Field("ratio", .number(0...1.5)),
        Alert.Field("keep", .boolean, initialValue: .boolean(true)),
        Alert.Field("disk", .choice(options), initialValue: .text("sdb")),
        Alert.Field("tags", .choices(["a", "b", "c"], count: 1...2)),
    ]

    private static let alert = Alert(
        "Rename?", buttons: ["Rename", .cancel("Keep")], fields: fields)

    private static func reason(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch { return "\(error)" }
    }

    @Test("Fields are read as they were written, and written as a schema has them")
    func roundTrip() throws {
        let text = try FieldJSON.text(Self.fields)
        #expect(try FieldJSON.fields(text) == Self.fields)
        #expect(
            text.hasPrefix(
                #"[{"id":"name","type":"string","title":"Name","placeholder":"backup","required":true},"#
                    + #"{"id":"code","type":"string","minLength":2,"maxLength":4,"#
                    + #""pattern":"^[a-z]+$","description":"d"},"#))
        let decoded = try JSONDecoder().decode([Alert.Field].self, from: Data(text.utf8))
        #expect(decoded == Self.fields)
    }

    @Test("A schema of the Model Context Protocol becomes fields in its order")
    func schema() throws {
        let json = """
            {"type": "object", "required": ["z"], "properties": {
             "z": {"type": "string", "format": "email", "maxLength": 99999},
             "a": {"type": "integer", "minimum": 1.5, "maximum": 9},
             "b": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}},
             "c": {"type": "string", "enum": ["1", "2"], "enumNames": ["One", "Two"],
                   "default": "2"},
             "d": {"type": "array", "items": {"oneOf": [{"const": "y", "title": "Y"}]}}}}
            """
        let fields = try FieldJSON.fields(schema: JSONValue(parsing: Array(json.utf8)))
        #expect(fields.map(\.id) == ["z", "a", "b", "c", "d"])
        #expect(fields.map(\.isRequired) == [true, false, false, false, false])
        #expect(fields[1].kind == .integer(2...9))
        #expect(fields[2].kind == .choices([.init("X", id: "x")], count: 0...1))
        #expect(fields[3].kind == .choice([.init("One", id: "1"), .init("Two", id: "2")]))
        #expect(fields[3].initialValue == .text("2"))
        #expect(fields[4].kind == .choices([.init("Y", id: "y")], count: 0...1))
        let normalized = fields.map(\.normalized)
        #expect(try FieldJSON.fields(FieldJSON.text(fields)) == normalized)
    }

    @Test("A field that may be null, as libraries write that, is one that may stay empty")
    func optional() throws {
        // The first five as pydantic 2.12 writes Optional fields and enums, the others as zod 4,
        // OpenAPI 3.0 and draft 7 do.
        let json = """
            {"title": "Order", "type": "object", "required": ["a", "b", "c", "f", "g", "k", "plain"],
             "$defs": {"Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"}},
             "definitions": {"Size": {"$ref": "#/$defs/Color"}},
             "properties": {
             "a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "A"},
             "b": {"anyOf": [{"minimum": 1, "type": "integer"}, {"type": "null"}], "default": 2},
             "c": {"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}], "default": null},
             "d": {"$ref": "#/$defs/Color", "default": "red"},
             "e": {"anyOf": [{"items": {"$ref": "#/$defs/Color"}, "type": "array"},
                             {"type": "null"}]},
             "f": {"type": ["string", "null"], "maxLength": 9},
             "g": {"type": ["null", "boolean"]},
             "h": {"oneOf": [{"type": "null"}, {"const": "x", "title": "X"}, {"const": "y"}]},
             "i": {"enum": ["x", null], "type": ["string", "null"]},
             "j": {"const": "x", "type": "string"},
             "k": {"type": "number", "nullable": true},
             "l": {"allOf": [{"$ref": "#/definitions/Size"}]},
             "m": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 2.5},
             "plain": {"type": ["string"]}}}
            """
        let fields = try FieldJSON.fields(schema: JSONValue(parsing: Array(json.utf8)))
        #expect(fields.filter(\.isRequired).map(\.id) == ["plain"])
        let colors = Alert.Field.Kind.choice(["red", "blue"])
        let kinds: [Alert.Field.Kind] = [
            .text(), .integer(1 ... .max), colors, colors,
            .choices(["red", "blue"], count: 0...2), .text(.init(length: 0...9)), .boolean,
            .choice([.init("X", id: "x"), "y"]), .choice(["x"]), .choice(["x"]), .number(), colors,
            .integer(1...2), .text(),
        ]
        #expect(fields.map(\.kind) == kinds)
        #expect(fields.map(\.title).prefix(4) == ["A", "b", "Color", "Color"])
        #expect(fields.map(\.initialValue).prefix(4) == [nil, 2, nil, "red"])
        #expect(try FieldJSON.fields(FieldJSON.text(fields)) == fields.map(\.normalized))
    }

    @Test("A literal is the value that is stored")
    func literals() {
        let name = "nas"
        let values: [Alert.Value] = ["x", "\(name)-1", 2, -0.5, 3.0, true, ["a", "b"], []]
        #expect(
            values == [
                .text("x"), .text("nas-1"), .integer(2), .number(-0.5), .integer(3),
                .boolean(true), .list(["a", "b"]), .list([]),
            ])
    }

    @Test(
        "A number that can't be stored as it is is refused, in JSON and typed",
        arguments: ["1e-400", "-1e-400", "1e400"])
    func unstorable(digits: String) throws {
        let field = Alert.Field("n", .number())
        let json = try JSONValue(parsing: Array(digits.utf8))
        #expect(
            Self.reason { _ = try field.value(json: json) }
                == "the value of “n” must be 0, or have a size from 5e-324 to 1.7e308")
        #expect(
            Self.reason { _ = try field.value(typed: [digits]) }
                == "the value of “n” must be a number")
        let schema = "{\"properties\":{\"n\":{\"type\":\"number\",\"minimum\":\(digits)}}}"
        let reason = Self.reason {
            _ = try FieldJSON.fields(schema: JSONValue(parsing: Array(schema.utf8)))
        }
        #expect(reason?.contains("has “minimum” that is not a number") == true, "\(reason ?? "")")
    }

    @Test(
        "A schema that no form can have is refused, with the property and what is wrong",
        arguments: [
            (#"[]"#, "the schema is not an object"),
            (#"{"properties": {"a": {"type": "object"}}}"#, "has the type “object”"),
            (#"{"properties": {"a": {}}}"#, "the field “a” has no type"),
            (
                #"{"properties": {"a": {"type": "string", "format": "password"}}}"#,
                "asks for a secret"
            ),
            (#"{"properties": {"a": {"type": "string", "writeOnly": true}}}"#, "asks for a secret"),
            (
                #"{"properties": {"a": {"type": "string", "format": "ipv4"}}}"#,
                "has the format “ipv4”"
            ),
            (#"{"properties": {"a": {"type": "integer", "multipleOf": 2}}}"#, "has “multipleOf”"),
            (#"{"properties": {"a": {"type": "array", "items": {"type": "string"}}}}"#, "options"),
            (#"{"properties": {"a": {"type": "string", "enum": [1]}}}"#, "not a list of texts"),
            (#"{"properties": {"a": {"type": "integer", "minimum": 3, "maximum": 1}}}"#, "minimum"),
            (#"{"properties": {}, "required": ["a"]}"#, "requires “a”"),
            (#"{"oneOf": [], "properties": {}}"#, "has “oneOf”"),
            (
                #"{"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}"#,
                "has an alternative that is no option"
            ),
            (#"{"properties": {"a": {"type": ["string", "integer"]}}}"#, "has a “type” that is"),
            (##"{"properties": {"a": {"$ref": "#/$defs/A"}}}"##, "leads nowhere in the schema"),
            (
                ##"{"$defs": {"A": {"$ref": "#/$defs/A"}}, "properties": {"a": {"$ref": "#/$defs/A"}}}"##,
                "is defined by itself"
            ),
            (
                #"{"properties": {"a": {"anyOf": [{"type": "string", "format": "password"}, {"type": "null"}]}}}"#,
                "asks for a secret"
            ),
        ])
    func refusedSchema(json: String, part: String) throws {
        let value = try JSONValue(parsing: Array(json.utf8))
        let reason = Self.reason { _ = try FieldJSON.fields(schema: value) }
        #expect(reason?.contains(part) == true, "\(reason ?? "no error")")
    }

    @Test(
        "Fields that can't be shown or filled in are refused when they are asked",
        arguments: [
            (Alert.Field("a b"), "id of a field"), (Alert.Field(""), "id of a field"),
            (Alert.Field("a", title: " "), "label of “a”"),
            (Alert.Field("a", .choice([])), "0 options"),
            (Alert.Field("a", .choice(["x", "x"])), "two options"),
            (
                Alert.Field("a", .choice([.init("x", id: "y"), .init("No", id: "x")])),
                "has an option with the id “x”, which is the label of another one, “y”"
            ),
            (
                Alert.Field("a", .choices([.init("b", id: "a"), "b"], count: 0...2)),
                "the label of another one, “a”"
            ),
            (Alert.Field("a", .choice(["x\ny"])), "contains U+000A, a control character"),
            (Alert.Field("a", .choice([.init("x", id: "\u{2028}")])), "is blank"),
            (Alert.Field("a", .choice([.init("x", id: "a\u{2028}")])), "contains U+2028"),
            (Alert.Field("a", .choices(["x"], count: 2...3)), "1 options, of which it wants 2"),
            (Alert.Field("a", .text(.init(pattern: "("))), "has the pattern “(”"),
            (Alert.Field("a", .integer(1...2), initialValue: .integer(3)), "initial value"),
            (Alert.Field("a", .boolean, initialValue: .text("x")), "initial value"),
            (Alert.Field("a", .text(.init(length: 5000...6000))), "5000 characters"),
        ] as [(Alert.Field, String)])
    func refusedField(field: Alert.Field, part: String) {
        let reason = Self.reason {
            try Alert("t", buttons: ["OK"], fields: [field]).validate()
        }
        #expect(reason?.contains(part) == true, "\(reason ?? "no error")")
    }

    @Test(
        "A button's id has no control character, and its label may have one",
        arguments: ["a\nb", "a\tb", "a\u{1B}[2J", "a\u{85}b", "a\u{1E}b", "a\u{2029}"])
    func controlCharacters(text: String) throws {
        let reason = Self.reason { try Alert("t", buttons: [Alert.Button(text)]).validate() }
        #expect(reason?.hasPrefix("the id of a button contains U+") == true, "\(reason ?? "-")")
        try Alert("t", buttons: [Alert.Button(text, id: "a")]).validate()
    }

    @Test("A blank text is none where a value is required, and stays as it is elsewhere")
    func blank() throws {
        for field in [Alert.Field("a"), Alert.Field("a", .text(.init(isMultiline: true)))] {
            for text in ["", " ", "\t \u{3000}", "\u{2003}"] {
                var field = field
                let input = Alert.Input(values: ["a": .text(text)])
                let values = try Alert("t", buttons: ["OK"], fields: [field])
                    .completed(input, buttonAt: 0).values
                #expect(values["a"] == (text.isEmpty ? nil : .text(text)))
                field.isRequired = true
                for initial in [nil, Alert.Value.text("initial")] {
                    field.initialValue = initial
                    let alert = Alert("t", buttons: ["OK"], fields: [field])
                    let reason = Self.reason { _ = try alert.completed(input, buttonAt: 0) }
                    #expect(reason == "the value of “a” is missing")
                }
            }
        }
    }

    @Test("Fields need a button that sends them, ids of their own, and nobody's default")
    func refusedAlerts() {
        let a = Alert.Field("a", isRequired: true)
        for (alert, part) in [
            (Alert("t", fields: [a]), "no button to send them"),
            (Alert("t", buttons: [.cancel("No")], fields: [a]), "no button to send them"),
            (Alert("t", buttons: ["OK"], fields: [a, a]), "two fields with the id “a”"),
            (
                Alert("t", buttons: ["OK"], fields: (0..<9).map { Alert.Field("f\($0)") }),
                "has 9 fields; at most 8"
            ),
            (
                Alert(
                    "t", buttons: ["OK"], fields: [a], deadline: .after(.seconds(1)),
                    defaultButton: "OK"), "“a” has to be filled in"
            ),
        ] {
            let reason = Self.reason { try alert.validate() }
            #expect(reason?.contains(part) == true, "\(reason ?? "no error")")
        }
    }

    @Test(
        "A value that does not fit its field is refused with the field's name",
        arguments: [
            ("name", .text("a\nb"), "a single line"), ("name", .text("a\0"), "NUL"),
            ("name", .text(String(repeating: "é", count: 2049)), "at most 4096 bytes"),
            ("name", .integer(1), "must be a text"),
            ("code", .text("a"), "must have 2 to 4 characters"),
            ("code", .text("A1"), "must match the pattern “^[a-z]+$”, which means: d"),
            ("copies", .integer(4), "must be a whole number from 1 to 3"),
            ("copies", .text("x"), "whole number"),
            ("copies", .number(1.5), "whole number"),
            ("ratio", .number(2), "must be a number from 0 to 1.5"),
            ("ratio", .number(.nan), "a number"),
            ("ratio", .boolean(true), "a number"), ("keep", .text("maybe"), "true or false"),
            ("disk", .text("sdc"), "must be one of sda, sdb"),
            ("disk", .list(["sda"]), "one option"),
            ("tags", .list(["a", "b", "c"]), "must have at most 2 options"),
            ("tags", .list(["z"]), "must be some of a, b, c"),
            ("tags", .text("a"), "a list"), ("nothing", .text("a"), "is for no field"),
        ] as [(String, Alert.Value, String)])
    func refusedValue(id: String, value: Alert.Value, part: String) {
        var values: [String: Alert.Value] = ["name": .text("n")]
        values[id] = value
        let reason = Self.reason {
            _ = try Self.alert.completed(Alert.Input(values: values), buttonAt: 0)
        }
        #expect(reason?.contains(part) == true, "\(reason ?? "no error")")
        #expect(reason?.contains("“\(id)”") == true)
    }

    @Test("What is not given has its initial value, and a cancel button needs none")
    func completed() throws {
        let input = try Self.alert.completed(
            Alert.Input(values: [
                "name": .text("n"), "keep": .text(""), "tags": .list(["b", "a", "b"]),
            ]),
            buttonAt: 0)
        #expect(
            input.values == [
                "name": .text("n"), "copies": .integer(1), "disk": .text("sdb"),
                "tags": .list(["a", "b"]),
            ])
        let missing = Self.reason { _ = try Self.alert.completed(Alert.Input(), buttonAt: 0) }
        #expect(missing == "the value of “name” is missing")
        #expect(try Self.alert.completed(Alert.Input(note: " "), buttonAt: 1) == Alert.Input())
        let note = String(repeating: "n", count: 4097)
        #expect(
            Self.reason { _ = try Self.alert.completed(Alert.Input(note: note), buttonAt: 1) }
                == "the note has 4097 bytes; at most 4096")
    }

    @Test(
        "What a person types is read as the field wants it",
        arguments: [
            ("copies", ["2"], .integer(2)), ("copies", [" 3 "], .integer(3)),
            ("copies", [""], nil), ("ratio", ["0.5"], .number(0.5)), ("ratio", ["1"], .integer(1)),
            ("ratio", ["1e0"], .integer(1)), ("keep", ["YES"], .boolean(true)),
            ("keep", ["false"], .boolean(false)), ("disk", ["The second"], .text("sdb")),
            ("tags", ["c", "a"], .list(["a", "c"])), ("name", [" x "], .text(" x ")),
        ] as [(String, [String], Alert.Value?)])
    func typed(id: String, texts: [String], value: Alert.Value?) throws {
        let field = try #require(Self.fields.first { $0.id == id })
        #expect(try field.value(typed: texts) == value)
    }

    @Test(
        "What fits is said in few words, with what an asker leaves open left out",
        arguments: [
            (.text(), []), (.text(.init(length: 1...4096)), ["at least 1 character"]),
            (
                .text(.init(length: 0...1, format: .date)),
                ["at most 1 character", "a date such as 2026-11-20"]
            ),
            (.text(.init(length: 3...3)), ["3 characters"]),
            (.integer(), ["a whole number"]),
            (.integer(1...Int64.max), ["a whole number of at least 1"]),
            (.integer(Int64.min...9), ["a whole number of at most 9"]),
            (.number(), ["a number"]), (.number(0.5...2), ["a number from 0.5 to 2"]),
            (.boolean, []), (.choice(["a"]), []), (.choices(["a", "b"]), []),
            (.choices(["a", "b"], count: 1...2), []), (.choices(["a"], count: 1...1), []),
            (.choices(["a", "b", "c"], count: 1...2), ["at most 2 options"]),
            (.choices(["a", "b", "c"], count: 2...3), ["at least 2 options"]),
            (.choices(["a", "b"], count: 0...1), ["at most 1 option"]),
        ] as [(Alert.Field.Kind, [String])])
    func bounds(kind: Alert.Field.Kind, words: [String]) {
        #expect(Alert.Field("f", kind).bounds == words)
    }

    @Test(
        "Formats accept what they name",
        arguments: [
            (.email, ["ana@example.org", "a@b"], ["ana", "a b@c", "a@", "@b", "a@b..c"]),
            (.uri, ["https://example.org/?q", "mailto:a@b"], ["example.org", "http:", "a: b"]),
            (
                .date, ["2026-11-20", "2024-02-29"],
                ["2026-13-01", "2026-04-31", "26-1-1", "2026-02-30"]
            ),
            (
                .dateTime,
                [
                    "2026-11-20T10:00:00Z", "2026-11-20t10:00:60.5+01:00",
                    "2026-11-27T10:00:00.000Z", "2026-11-20 10:00:00z", "2026-11-20T10:00:00-00:00",
                ],
                ["2026-11-20", "2026-11-20T24:00:00Z", "2026-11-20T10:00:00"]
            ),
        ] as [(Alert.Field.Format, [String], [String])])
    func formats(format: Alert.Field.Format, these: [String], those: [String]) {
        for text in these { #expect(format.accepts(text), "\(text)") }
        for text in those { #expect(!format.accepts(text), "\(text)") }
    }

    @Test(
        "A value survives JSON, alone and with its fields",
        arguments: [
            .text("a\n\u{202E}b"), .integer(.max), .integer(-1), .number(0.1), .number(1e300),
            .boolean(false), .list(["a", "b"]), Alert.Value(3.0), Alert.Value(1e18),
        ] as [Alert.Value])
    func values(value: Alert.Value) throws {
        let data = try JSONEncoder().encode([value])
        #expect(try JSONDecoder().decode([Alert.Value].self, from: data) == [value])
    }
}
