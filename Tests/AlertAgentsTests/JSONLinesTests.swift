import AlertQueue
import TestSupport
import Testing
import TextFormats

@testable import AlertAgents

@Suite("Input of tools", .inParallel)
struct JSONLinesTests {
    private func read(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    @Test("A member is left out by the bytes of its name")
    func without() throws {
        let value = try read(#"{"\u212bngstrom": 1, "\u00c5ngstrom": 2}"#)
        let rest = value.without(["\u{C5}ngstrom"])
        #expect(rest["\u{212B}ngstrom"]?.integer == 1)
        #expect(rest.members?.count == 1)
    }

    @Test("Each member and element has its line, and what a screen would hide is escaped")
    func lines() throws {
        let text = #"{"b":[1.50,{}],"a\nb":{"c":[],"d":"\u202ex"},"e":-0}"#
        #expect(
            try read(text).lines() == #"""
                {
                  "b": [
                    1.50,
                    {}
                  ],
                  "a\nb": {
                    "c": [],
                    "d": "\u202ex"
                  },
                  "e": -0
                }
                """#)
    }
}
