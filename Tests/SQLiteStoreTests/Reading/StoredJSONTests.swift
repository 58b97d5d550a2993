import AlertCore
import AlertTables
import Foundation
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Stored JSON", .inParallel)
struct StoredJSONTests {
    @Test("Every Unicode scalar except NUL is read back from the stored form and from Foundation's")
    func everyScalar() throws {
        for plane in 0...16 {
            let scalars = (1...0xffff).compactMap { Unicode.Scalar(UInt32(plane << 16 | $0)) }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            let stored = StoredJSON.encode([text])
            let decoded = try StoredJSON.decode([String].self, stored)
            #expect(decoded.first.map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test(
        "Quotes, backslashes and control characters are escaped",
        arguments: [
            ("\"", #"["\""]"#), ("\\", #"["\\"]"#), ("\n", #"["\n"]"#),
            ("\u{1f}", #"["\u001f"]"#), ("\u{7f}/é🎉", "[\"\u{7f}/é🎉\"]"),
        ])
    func escapes(text: String, json: String) {
        #expect(StoredJSON.encode([text]) == json)
    }

    @Test("Buttons are read back with their ids, titles and roles, in order")
    func buttons() throws {
        let buttons: [Alert.Button] = [
            Alert.Button("Yes \"now\"", id: "y\\"), .cancel("No"),
            Alert.Button("Delete\n", id: "d", role: .destructive),
        ]
        let decoded = try StoredJSON.buttons(StoredJSON.encode(buttons))
        #expect(decoded.map(\.id) == buttons.map(\.id))
        #expect(decoded.map(\.title) == buttons.map(\.title))
        #expect(decoded.map(\.role) == buttons.map(\.role))
        #expect(StoredJSON.encode([Alert.Button]()) == "[]")
    }

    @Test("A dictionary is stored in the order of its names")
    func dictionary() throws {
        let info = ["b": "2", "a\"": "1\\", "c": ""]
        let stored = StoredJSON.encode(info)
        #expect(stored == #"{"a\"":"1\\","b":"2","c":""}"#)
        #expect(try StoredJSON.strings(stored) == info)
        #expect(StoredJSON.encode([String: String]()) == "{}")
    }
}
