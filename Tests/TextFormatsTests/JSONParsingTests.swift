import Foundation
import TestSupport
import Testing

@testable import TextFormats

@Suite("Reading JSON", .inParallel)
struct JSONParsingTests {
    private func parse(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    @Test(
        "What is read is written as it was, with the order of members and the digits of numbers",
        arguments: [
            "null", "true", "false", "0", "-0", "-9223372036854775808", "12345678901234567890",
            "1e400", "-1.50E-7", "\"\"", "[]", "{}", #""é😀\"""#, #"["a",[null,{"b":1}],true]"#,
            #"{"b":1,"a":{"c":[{}]}}"#, #""\u001b\u202e""#, #""line\nbreak \" \\ /""#,
        ])
    func roundTrip(text: String) throws {
        #expect(try parse(text).text() == text)
        #expect(try parse(" \t\r\n" + text + "\n").text() == text)
    }

    @Test("Escapes are read as the characters that they stand for")
    func escapes() throws {
        let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\uD83D\uDE00""#
        #expect(try parse(text).string == "\"\\/\u{8}\u{C}\n\r\tAé😀")
    }

    @Test("An integer is a number without fraction or exponent that 64 bits hold")
    func integers() throws {
        #expect(try parse(" -0 ").integer == 0)
        #expect(try parse("9223372036854775807").integer == .max)
        for text in ["9223372036854775808", "1.0", "1e2"] {
            #expect(try parse(text).integer == nil)
        }
    }

    @Test("A byte order mark before a value is skipped, and UTF-16 is named")
    func byteOrderMarks() throws {
        #expect(try parse("\u{FEFF} [1]\r\n").text() == "[1]")
        for mark: [UInt8] in [[0xFF, 0xFE], [0xFE, 0xFF]] {
            let error = #expect(throws: JSONError.self) {
                try JSONValue(parsing: mark + [0x7B, 0, 0x7D, 0])
            }
            #expect(error?.description == "it is in UTF-16, and not in UTF-8")
        }
    }

    @Test("A number that no Double can stand for is not another number, and not 0")
    func doubles() throws {
        for (text, number) in [
            ("1e400", nil), ("-1e400", nil), ("1e-400", nil), ("-0.1e-999999999", nil),
            ("0e-400", 0), ("0.000e9", 0), ("5e-324", .leastNonzeroMagnitude), ("1.5", 1.5),
            ("7", 7),
        ] as [(String, Double?)] {
            #expect(try parse(text).double == number, "\(text)")
            #expect((try? JSONEncoder().encode(parse(text))) == nil || number != nil, "\(text)")
        }
    }

    @Test(
        "What is not exactly one value is refused, with the reason and its place",
        arguments: [
            ("", "it is empty"), (" ", "it is empty"), ("nul", "it ends too early"),
            ("nulL", "no value at byte 3"), ("nullx", "something follows the value at byte 4"),
            ("1 2", "something follows the value at byte 2"),
            ("01", "something follows the value at byte 1"), ("+1", "no value at byte 0"),
            ("1.", "it ends too early"), (".5", "no value"), ("1e", "it ends too early"),
            ("0x1", "something follows"), ("-", "it ends too early"), ("NaN", "no value"),
            ("[1,]", "no value at byte 3"), ("[1 2]", "a comma is missing at byte 3"),
            ("[", "it ends too early"), ("{", "it ends too early"),
            ("{]", "a name in quotes is missing"),
            ("{\"a\" 1}", "a colon is missing at byte 5"), ("{\"a\":}", "no value at byte 5"),
            ("{\"a\":1,}", "a name in quotes is missing at byte 7"),
            ("{,}", "a name in quotes is missing"),
            ("{a:1}", "a name in quotes is missing at byte 1"), ("'a'", "no value"),
            (#""\x41""#, "an unknown escape at byte 2"), (#""\u12""#, "too few digits"),
            (#""\ud83d""#, "half of a surrogate pair"), (#""\ude00""#, "half of a surrogate pair"),
            (#""\ud83d\u0041""#, "half of a surrogate pair"),
            ("\"\n\"", "a control character that is not escaped at byte 1"),
            ("\"a", "it ends too early"), ("1\u{FEFF}", "follows the value at byte 1"),
            ("\u{A0}1", "no value at byte 0"),
            (#"{"a":1,"\u0061":2}"#, "an object has two members “a” at byte 7"),
        ])
    func refused(text: String, says: String) throws {
        let error = try #require(throws: JSONError.self) { try parse(text) }
        #expect("\(error)".contains(says), "\(text): \(error)")
    }

    @Test("Bytes that are not UTF-8 are refused, and so is a zero")
    func bytes() {
        let quote = UInt8(ascii: "\"")
        for bytes: [UInt8] in [
            [0xFF], [quote, 0xFF, quote], [quote, 0xC0, 0x80, quote], [0x31, 0],
        ] {
            #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
        }
    }

    @Test("256 levels are read, and one more is refused, however many follow")
    func depth() throws {
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        #expect(try parse(nested(256)).elements?.count == 1)
        for count in [257, 500_000] {
            let error = #expect(throws: JSONError.self) { try parse(nested(count)) }
            #expect(error?.reason == "it is nested deeper than 256 levels")
        }
    }

    @Test("Members are found by the bytes of their names; null counts as absent")
    func members() throws {
        let value = try parse("{\"e\\u0301\":1,\"é\":2,\"a\":null,\"b\":\"x\"}")
        #expect(value.members?.map(\.key) == ["e\u{301}", "é", "a", "b"])
        #expect(value["e\u{301}"]?.integer == 1)
        #expect(value["é"]?.integer == 2)
        #expect(value["a"] == nil && value["c"] == nil)
        #expect(value["b"]?.string == "x" && value["b"]?["c"] == nil)
    }

    @Test("No beginning of a value is a value, and none traps")
    func beginnings() throws {
        let bytes = Array(#"{"a":["\ud83d\ude00",-1.5e+3,true,null,{"b":"\n"}]}"#.utf8)
        for count in 0..<bytes.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: Array(bytes[..<count])) }
        }
        _ = try JSONValue(parsing: bytes)
    }

    @Test(
        "A careless program's text is read, and what it lost is seen",
        arguments: [
            ("\u{FEFF}{\"a\":1}", #"{"a":1}"#, true),
            (#"{"a":1,"b":2,"a":3,"\u0061":4}"#, #"{"a":1,"b":2,"a":3,"a":4}"#, true),
            (#""\uD83D\uDE00""#, #""😀""#, true),
            (#""a\ud83d""#, #""a\\ud83d""#, false), (#""\uDE00b""#, #""\\ude00b""#, false),
            (#""\ud83d\u0041""#, #""\\ud83dA""#, false),
            (#""\ud83d\n""#, #""\\ud83d\n""#, false),
            (#""\ud83d\ud83d\ude00""#, #""\\ud83d😀""#, false),
            (#"{"\udfff":1}"#, #"{"\\udfff":1}"#, false),
        ])
    func tolerant(text: String, value: String, isExact: Bool) throws {
        let read = try JSONValue.tolerant(parsing: Array(text.utf8))
        #expect(try read.value.text() == value)
        #expect(read.isExact == isExact)
        #expect((try? parse(text)) == nil || isExact)
    }

    @Test("The canonical form has no blanks, and the escapes of RFC 8785")
    func canonical() throws {
        let value = JSONValue.object([
            ("empty", .array([])),
            ("escapes", .string("\"\\\u{8}\t\n\u{C}\r\0\u{1F}/\u{2028}\u{7F}é")),
            ("flag", .bool(true)), ("none", .object([])),
            ("numbers", .array([.integer(-1), .integer(.max)])),
        ])
        let text = value.canonical
        #expect(
            text
                == #"{"empty":[],"escapes":"\"\\\b\t\n\f\r\u0000\u001f/"# + "\u{2028}\u{7F}"
                + #"é","flag":true,"none":{},"numbers":[-1,9223372036854775807]}"#)
        #expect(try parse(text).canonical == text)
    }

    @Test("Bytes that are not UTF-8 are replaced in a careless program's strings alone")
    func tolerantOfBytes() throws {
        let quote = UInt8(ascii: "\"")
        // A half of a pair, as some programs write it.
        let read = try JSONValue.tolerant(parsing: [quote, 0xED, 0xA0, 0x80, quote])
        #expect(read.value.string?.contains("\u{FFFD}") == true && !read.isExact)
        for bytes: [UInt8] in [
            [0xFF], [0x31, 0], [quote, 0x41], [0xEF, 0xBB], [quote, 10, quote],
        ] {
            #expect(throws: JSONError.self) { try JSONValue.tolerant(parsing: bytes) }
        }
    }
}
