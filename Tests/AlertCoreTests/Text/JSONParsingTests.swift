import TestSupport
import Testing

@testable import AlertCore

@Suite("Reading JSON", .inParallel)
struct JSONParsingTests {
    private func parse(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
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
        arguments: ["", "{", "{]", "{\"a\"}", "'a'", "\"\\ud800\"", "01", "1 2", "nul"])
    func refused(text: String) {
        #expect(throws: (any Error).self) { try parse(text) }
    }

    @Test("Members are found by the bytes of their names; null counts as absent")
    func members() throws {
        let value = try parse("{\"e\\u0301\":1,\"a\":null,\"b\":\"x\"}")
        #expect(value["e\u{301}"]?.integer == 1)
        #expect(value["é"] == nil && value["a"] == nil)
        #expect(value["b"]?.string == "x" && value["b"]?["c"] == nil)
    }
}
