import Linux
import TestSupport
import Testing

@Suite("Lines of messages", .inParallel)
struct LineSplitterTests {
    private func lines(_ text: String, pieces size: Int) -> [LineSplitter.Line] {
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            splitter.add(bytes[start..<min(start + size, bytes.count)]) { lines.append($0) }
        }
        splitter.finish { lines.append($0) }
        return lines
    }

    private func whole(_ text: String) -> LineSplitter.Line { .whole(Array(text.utf8)) }

    @Test("Lines are the same in pieces of any size; blank ones are left out", arguments: 1...9)
    func pieces(size: Int) {
        #expect(
            lines("one\n\n \t\r\ntwo é\r\nlast", pieces: size)
                == [whole("one"), whole("two é\r"), whole("last")])
        #expect(lines("", pieces: size).isEmpty)
    }

    @Test("A line may have a MiB and no more, and the lines around a longer one are kept")
    func limit() {
        let longest = String(repeating: "x", count: LineSplitter.limit)
        #expect(
            lines("a\n\(longest)\n\(longest)y\nb\n\(longest)y", pieces: 65_536)
                == [whole("a"), whole(longest), .tooLong, whole("b"), .tooLong])
    }
}
