/// Reads one JSON value, as RFC 8259 has it and nothing more, in time proportional to its length.
/// A byte order mark before it is skipped, as the RFC allows.
///
/// It refuses what two readers could understand differently: a name that an object has twice, half
/// of a surrogate pair, bytes that are not UTF-8, and anything after the value.
///
/// Foundation's readers of values whose type is unknown lose the order of members and the digits
/// of numbers, and take a name that is given twice.
struct JSONParser {
    /// How many arrays and objects may be inside each other.
    static let depthLimit = 256
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Whether it takes what ``JSONValue/tolerant(parsing:)`` lists.
    private let isTolerant: Bool
    /// Whether no other text has the same value, but for its blanks, escapes and byte order mark.
    private(set) var isExact = true
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8], isTolerant: Bool = false) {
        self.bytes = bytes
        self.isTolerant = isTolerant
        if bytes.starts(with: Self.byteOrderMark) { index = Self.byteOrderMark.count }
    }

    /// Reads all bytes as a single value.
    mutating func value() throws(JSONError) -> JSONValue {
        guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]) else {
            throw JSONError("it is in UTF-16, and not in UTF-8")
        }
        skipBlanks()
        guard byte != nil else { throw JSONError("it is empty") }
        let value = try next()
        skipBlanks()
        guard index == bytes.count else { throw error("something follows the value") }
        return value
    }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private var earlyEnd: JSONError { JSONError("it ends too early") }

    /// What is wrong with the next byte, or that there is none.
    private func error(_ reason: String) -> JSONError {
        byte == nil ? earlyEnd : JSONError(reason, at: index)
    }

    private mutating func next() throws(JSONError) -> JSONValue {
        skipBlanks()
        switch byte {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try members())
        case UInt8(ascii: "["): return .array(try elements())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func skipBlanks() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    /// Skips a byte if it comes next.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard byte == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func word(
        _ word: String, _ value: JSONValue
    ) throws(JSONError) -> JSONValue {
        for expected in word.utf8 {
            guard byte == expected else { throw error("there is no value") }
            index += 1
        }
        return value
    }
}

// MARK: - Arrays and objects

extension JSONParser {
    private mutating func elements() throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try list(until: "]") { parser throws(JSONError) in
            elements.append(try parser.next())
        }
        return elements
    }

    private mutating func members() throws(JSONError) -> [(key: String, value: JSONValue)] {
        var members: [(key: String, value: JSONValue)] = []
        var names = MemberNames()
        try list(until: "}") { parser throws(JSONError) in
            parser.skipBlanks()
            let start = parser.index
            let name = try parser.string()
            guard parser.isTolerant || names.add(name, to: members) else {
                throw JSONError("an object has two members “\(name.prefix(80))”", at: start)
            }
            parser.skipBlanks()
            guard parser.skip(":") else { throw parser.error("a colon is missing") }
            members.append((name, try parser.next()))
        }
        return members
    }

    private mutating func list(
        until end: Unicode.Scalar,
        _ element: (inout JSONParser) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard depth < Self.depthLimit else {
            throw error("it is nested deeper than \(Self.depthLimit) levels")
        }
        depth += 1
        defer { depth -= 1 }
        index += 1
        skipBlanks()
        if skip(end) { return }
        while true {
            try element(&self)
            skipBlanks()
            if skip(end) { return }
            guard skip(",") else { throw error("a comma is missing") }
        }
    }
}

/// The names of the members of an object so far, by their bytes: equal strings may differ in them.
private struct MemberNames {
    /// With few members, looking at each is faster.
    private static let few = 16
    private var names: Set<[UInt8]> = []

    /// Returns whether a name is none of those of the members, and remembers it.
    mutating func add(_ name: String, to members: [(key: String, value: JSONValue)]) -> Bool {
        if members.count < Self.few {
            return !members.contains { $0.key.isIdentical(to: name) }
        }
        if members.count == Self.few { names.formUnion(members.map { Array($0.key.utf8) }) }
        return names.insert(Array(name.utf8)).inserted
    }
}

// MARK: - Strings

extension JSONParser {
    private mutating func string() throws(JSONError) -> String {
        guard skip("\"") else { throw error("a name in quotes is missing") }
        let start = index
        // Most strings have no escape.
        while let byte, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            index += 1
        }
        var text = Array(bytes[start..<index])
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                let string = try validated(text, from: start)
                index += 1
                return string
            case UInt8(ascii: "\\"):
                index += 1
                text += try escaped().utf8
            case 0..<0x20: throw error("a string has a control character that is not escaped")
            default:
                text.append(byte)
                index += 1
            }
        }
        throw earlyEnd
    }

    private mutating func validated(
        _ text: [UInt8], from start: Int
    ) throws(JSONError) -> String {
        if let string = String(validating: text, as: UTF8.self) { return string }
        guard isTolerant else { throw JSONError("a string is not valid UTF-8", at: start) }
        isExact = false
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads the character that a backslash begins.
    private mutating func escaped() throws(JSONError) -> String {
        guard let byte else { throw earlyEnd }
        index += 1
        switch Unicode.Scalar(byte) {
        case "\"", "\\", "/": return String(Unicode.Scalar(byte))
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try codePoint()
        default: throw JSONError("there is an unknown escape", at: index - 1)
        }
    }

    /// Reads four digits, or twice four for a character that takes two units of UTF-16.
    private mutating func codePoint() throws(JSONError) -> String {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return String(scalar) }
        let end = index
        if UTF16.isLeadSurrogate(first), skip("\\"), skip("u") {
            let second = try codeUnit()
            if UTF16.isTrailSurrogate(second) {
                return String(UTF16.decode(UTF16.EncodedScalar([first, second])))
            }
        }
        guard isTolerant else { throw error("half of a surrogate pair ends") }
        isExact = false
        // What follows is no part of it.
        index = end
        return "\\u" + String(first, radix: 16)
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let digit = byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard let digit else { throw error("an escape has too few digits") }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}

// MARK: - Numbers

extension JSONParser {
    private mutating func number() throws(JSONError) -> JSONValue {
        let start = index
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        // Nothing is lost: “-0” keeps its sign.
        if let number = Int64(text), String(number) == text { return .integer(number) }
        return .number(text)
    }

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw error("there is no value") }
    }
}

/// What is wrong with a text that should be one JSON value.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    /// A sentence without its end, such as `a comma is missing`.
    let reason: String
    /// The byte at which that was found, counted from 0; `nil` for the text as a whole.
    let offset: Int?

    init(_ reason: String, at offset: Int? = nil) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { reason + (offset.map { " at byte \($0)" } ?? "") }
}
