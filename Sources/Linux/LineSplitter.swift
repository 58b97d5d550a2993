/// Divides a stream of bytes into lines, of which it keeps at most one in memory.
package struct LineSplitter: Sendable {
    package enum Line: Sendable, Equatable {
        case whole([UInt8])
        /// It was longer than the limit, and has been discarded.
        case tooLong
    }

    /// How long the lines of a client may be, in bytes; the longest alert takes a tenth of it.
    package static let limit = 1 << 20

    private let limit: Int
    private var rest: [UInt8] = []
    private var isTooLong = false

    /// - Parameter limit: How long a line may be, in bytes.
    package init(limit: Int = LineSplitter.limit) { self.limit = limit }

    /// Passes on the lines that end in these bytes; those without text are left out.
    package mutating func add(_ bytes: ArraySlice<UInt8>, _ body: (Line) -> Void) {
        var bytes = bytes
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            keep(bytes[..<end])
            finish(body)
            bytes = bytes[(end + 1)...]
        }
        keep(bytes)
    }

    /// Passes on what follows the last line feed.
    package mutating func finish(_ body: (Line) -> Void) {
        defer { (rest, isTooLong) = ([], false) }
        if isTooLong { return body(.tooLong) }
        let blanks: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")]
        if !rest.allSatisfy(blanks.contains) { body(.whole(rest)) }
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        isTooLong = rest.count + bytes.count > limit
        if isTooLong { rest = [] } else { rest += bytes }
    }
}
