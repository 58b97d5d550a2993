import AlertQueue
import TestSupport
import Testing

@testable import alertq

@Suite("JSON of hooks", .inParallel)
struct HookJSONTests {
    private func read(_ text: String) throws -> HookJSON {
        try HookJSONReader.value(of: Array(text.utf8))
    }

    @Test(
        "What is read is written as it was, with the order of members and the digits of numbers",
        arguments: [
            "null", "true", "false", "0", "-0", "1e400", "12345678901234567890", "-1.50E-7", "[]",
            "{}", #""""#, #""é😀""#, #"["a", [null, {"b": 1}]]"#, #"{"b": 1, "a": {"c": "d"}}"#,
            #""\u001b\u202e""#, #""line\nbreak \" \\ /""#,
        ])
    func roundTrip(text: String) throws {
        #expect(try read(text).line() == text)
        #expect(try read(" \t\r\n" + text + "\n").line() == text)
    }

    @Test("Escapes are read as the characters that they stand for")
    func escapes() throws {
        let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00""#
        #expect(try read(text) == .string("\"\\/\u{8}\u{C}\n\r\tAé😀"))
    }

    @Test("Names are compared by their bytes")
    func names() throws {
        let value = try read(#"{"\u212bngstrom": 1, "\u00c5ngstrom": 2}"#)
        #expect(value["\u{C5}ngstrom"] == .number("2"))
        #expect(value["A\u{30A}ngstrom"] == nil)
        #expect(value.without("\u{C5}ngstrom")["\u{212B}ngstrom"] == .number("1"))
    }

    @Test(
        "What is not exactly one value is refused",
        arguments: [
            ("", "it is empty"), ("nul", "it ends too early"), ("nulL", "no value at byte 3"),
            ("01", "something follows the value at byte 1"), ("+1", "no value at byte 0"),
            ("1.", "it ends too early"), (".5", "no value"), ("1e", "it ends too early"),
            ("-", "it ends too early"), ("NaN", "no value"), ("[1,]", "no value at byte 3"),
            ("[1 2]", "a comma is missing at byte 3"), ("{\"a\" 1}", "a colon is missing"),
            ("{\"a\":1,}", "a string is missing at byte 7"), ("{a:1}", "a string is missing"),
            ("'a'", "no value"), (#""\x41""#, "an unknown escape at byte 2"),
            (#""\u12""#, "too few digits"), (#""\ud83d""#, "half of a surrogate pair"),
            (#""\ude00""#, "half of a surrogate pair"),
            (#""\ud83d\u0041""#, "half of a surrogate pair"), ("\"\n\"", "a control character"),
            ("\"a", "it ends too early"), ("\u{FEFF}1", "no value at byte 0"),
            (#"{"a":1,"\u0061":2}"#, "two members “a”"),
        ])
    func refused(text: String, says: String) throws {
        let error = try #require(throws: CommandError.self) { try read(text) }
        #expect(error.description.contains(says), "\(text): \(error)")
    }

    @Test("Nesting has a bound")
    func depth() throws {
        let deep = { (count: Int) in
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        _ = try read(deep(HookJSONReader.maximumDepth))
        let error = #expect(throws: CommandError.self) {
            try read(deep(HookJSONReader.maximumDepth + 1))
        }
        #expect(error?.description.contains("nested deeper than 64 levels") == true)
    }

    @Test("Any beginning of a request is refused or is the request itself, and nothing traps")
    func beginnings() throws {
        let bytes = Array(#"{"a":["\ud83d\ude00",-1.5e+3,true,null,{"b":"\n"}]}"#.utf8)
        for count in 0..<bytes.count {
            #expect(throws: CommandError.self) {
                try HookJSONReader.value(of: Array(bytes[..<count]))
            }
        }
        _ = try HookJSONReader.value(of: bytes)
    }
}
