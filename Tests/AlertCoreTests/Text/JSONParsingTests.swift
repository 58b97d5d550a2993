import TestSupport
import Testing

@testable import AlertCore

@Suite("Reading JSON", .inParallel)
struct JSONParsingTests {
    private func parse(_ text: String) throws -> JSONValue {
        try #require(JSONValue(parsing: Array(text.utf8)))
    }

    @Test(
        "A value that was read is printed as it was",
        arguments: [
            "null", "true", "false", "0", "-9223372036854775808", "2.5", "\"\"", "\"é\\\"\"",
            "[]", "[1,[true,null],\"a\"]", "{}", "{\"a\":{\"b\":[{}]}}",
        ])
    func same(text: String) throws {
        #expect(try parse(text).text() == text)
    }

    @Test(
        "What is not JSON in UTF-8 is refused",
        arguments: [
            "", " ", "{", "{]", "{\"a\"}", "{\"a\":}", "{,}", "[1,]", "[", "'a'", "\"a", "\"\n\"",
            "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "01", "-",
            "+1",
            "1.", ".5", "1e", "1e999", "0x1", "1 2", "nul", "nullx", "\u{FEFF}1", "\u{A0}1",
        ])
    func refused(text: String) {
        #expect(JSONValue(parsing: Array(text.utf8)) == nil)
    }

    @Test("Bytes that are not UTF-8 are refused, and so is a zero")
    func bytes() {
        let quote = UInt8(ascii: "\"")
        for bytes: [UInt8] in [
            [0xFF], [quote, 0xFF, quote], [quote, 0xC0, 0x80, quote], [0x31, 0],
        ] {
            #expect(JSONValue(parsing: bytes) == nil)
        }
    }

    @Test("Escapes, numbers and blanks are read as RFC 8259 has them")
    func meaning() throws {
        #expect(
            try parse(#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00""#).string
                == "\"\\/\u{8}\u{C}\n\r\té😀")
        #expect(try parse(" \t\r\n-0 ").integer == 0)
        #expect(try parse("9223372036854775808").integer == nil)
        #expect(try parse("1e2").integer == nil)
        #expect(try parse(#"{"b":1,"a":2,"b":3}"#).members?.map(\.key) == ["b", "a", "b"])
        #expect(try parse(#"{"b":1,"a":2,"b":3}"#)["b"]?.integer == 1)
    }

    @Test("256 levels are read, and one more is refused, however many follow")
    func depth() throws {
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        #expect(try parse(nested(256)).elements?.count == 1)
        for count in [257, 500_000] {
            #expect(JSONValue(parsing: Array(nested(count).utf8)) == nil)
        }
    }

    @Test("Members are found by the bytes of their names; null counts as absent")
    func members() throws {
        let value = try parse("{\"e\\u0301\":1,\"a\":null,\"b\":\"x\"}")
        #expect(value["e\u{301}"]?.integer == 1)
        #expect(value["é"] == nil && value["a"] == nil)
        #expect(value["b"]?.string == "x" && value["b"]?["c"] == nil)
    }
}
