import Foundation
import TestSupport
import Testing

@testable import AlertCore

@Suite("Bytes of the log", .inParallel)
struct HashInputTests {
    @Test("A text of an entry, written as bytes, is the one of words")
    func text() throws {
        let input = HashInput()
        for milliseconds in [
            0, 1, 951_782_399_999, 951_782_400_000, 1_709_164_800_000, 1_767_225_599_999,
            4_107_542_400_000, Timestamp.plain.upperBound,
        ] as [Int64] {
            input.beginText()
            #expect(input.time(milliseconds: milliseconds))
            let text = Timestamp.text(Timestamp.date(milliseconds: milliseconds))
            #expect(String(decoding: input.written, as: UTF8.self) == text)
        }
        #expect(!input.time(milliseconds: -1))
        #expect(!input.time(milliseconds: Timestamp.plain.upperBound + 1))
    }
}
