/// A text that comes through a pipe, such as a log, and may be of any length.
///
/// Bytes that aren't UTF-8 become U+FFFD, one for each maximal subpart as Unicode recommends; see
/// <https://www.unicode.org/versions/latest/core-spec/chapter-3/#G66453>. NULs, which no alert can
/// contain, become “␀”, as screens show them. A byte order mark at its beginning is left out, and the
/// line breaks of Windows become ordinary ones. Of a text that is too long one end is kept, with a
/// line that says how many bytes were left out. Memory is bounded by the limit, whatever comes.
struct PipedText: Sendable {
    /// The end of a text that is kept.
    enum End: String, CaseIterable, Sendable { case end, start }

    private let kept: End
    private let limit: Int
    /// The bytes of the end that is kept, at least as many as the text can have.
    private var bytes: [UInt8] = []
    /// How many bytes have come.
    private var count = 0

    /// How far from the limit a line may end for the text to be cut there, in bytes.
    private static let reach = 4 << 10

    /// - Parameter limit: The greatest length of the text in bytes, with the line about the rest.
    init(keeping kept: End, limit: Int) {
        self.kept = kept
        self.limit = limit
    }

    mutating func append(_ piece: ArraySlice<UInt8>) {
        count += piece.count
        // Two bytes more for the line break that `text` drops.
        let capacity = limit + 2
        switch kept {
        case .start: bytes += piece.prefix(max(0, capacity - bytes.count))
        case .end:
            bytes += piece
            if bytes.count >= 2 * capacity { bytes.removeFirst(bytes.count - capacity) }
        }
    }

    /// What has come, without the line break that `echo` adds.
    var text: String {
        let hasEnd = kept == .end || bytes.count == count
        let end = hasEnd ? Self.lineBreaks.first { bytes.suffix($0.count) == $0[...] } ?? [] : []
        var characters = Self.characters(bytes.dropLast(end.count))
        var all = count - end.count
        let hasStart = kept == .start || bytes.count == count
        if hasStart, let first = characters.first, first.scalar == "\u{FEFF}" {
            characters.removeFirst()
            all -= first.length
        }
        let isWhole = bytes.count == count && characters.reduce(0) { $0 + $1.width } <= limit
        guard !isWhole else { return Self.text(characters[...]) }
        // The number of bytes left out has at most as many digits as that of all.
        let room = limit - note(all).utf8.count - 1
        let rest = kept == .end ? Self.end(of: characters, room) : Self.start(of: characters, room)
        let note = note(all - rest.reduce(0) { $0 + $1.length })
        return kept == .end ? "\(note)\n\(Self.text(rest))" : "\(Self.text(rest))\n\(note)"
    }

    private static let lineBreaks: [[UInt8]] = [[0x0D, 0x0A], [0x0A]]

    private func note(_ missing: Int) -> String {
        "[the \(kept == .end ? "first" : "last") \(missing) bytes are left out]"
    }
}

// MARK: - Characters

extension PipedText {
    /// A character as it is stored, and how many of the bytes that came it stands for.
    private struct StoredScalar {
        let scalar: Unicode.Scalar
        let length: Int

        /// Its length in UTF-8.
        var width: Int { UTF8.width(scalar) }
    }

    private static func characters(_ bytes: ArraySlice<UInt8>) -> [StoredScalar] {
        var parser = UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var result: [StoredScalar] = []
        result.reserveCapacity(bytes.count)
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let encoded):
                let scalar = UTF8.decode(encoded)
                if scalar == "\n", result.last?.scalar == "\r" {
                    result[result.count - 1] = StoredScalar(scalar: "\n", length: 2)
                } else {
                    result.append(
                        StoredScalar(scalar: scalar == "\0" ? "␀" : scalar, length: encoded.count))
                }
            case .error(let length): result.append(StoredScalar(scalar: "\u{FFFD}", length: length))
            case .emptyInput: return result
            }
        }
    }

    private static func text(_ characters: ArraySlice<StoredScalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: characters.lazy.map(\.scalar))
        return String(text)
    }

    /// The last characters that fit, from the beginning of a line if one begins near.
    private static func end(of characters: [StoredScalar], _ room: Int) -> ArraySlice<StoredScalar>
    {
        let rest = characters[(characters.endIndex - fitting(characters.reversed(), room))...]
        if rest.startIndex > 0, characters[rest.startIndex - 1].scalar == "\n" { return rest }
        let lineBreak = rest.prefix(reach).firstIndex { $0.scalar == "\n" }
        return lineBreak.map { rest[($0 + 1)...] } ?? rest
    }

    /// The first characters that fit, to the end of a line if one ends near.
    private static func start(of characters: [StoredScalar], _ room: Int) -> ArraySlice<
        StoredScalar
    > {
        let rest = characters.prefix(fitting(characters, room))
        if rest.endIndex < characters.endIndex, characters[rest.endIndex].scalar == "\n" {
            return rest
        }
        let lineBreak = rest.suffix(reach).lastIndex { $0.scalar == "\n" }
        return lineBreak.map { rest[..<$0] } ?? rest
    }

    /// How many characters fit from the first on.
    private static func fitting(_ characters: some Sequence<StoredScalar>, _ room: Int) -> Int {
        var left = room
        return characters.prefix { character in
            left -= character.width
            return left >= 0
        }.count
    }
}
