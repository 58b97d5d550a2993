/// Reads one JSON value, as RFC 8259 has it and nothing more, in time proportional to its length.
///
/// Foundation's decoder reads known types. To find out the type of each value, it would have to
/// guess, and each wrong guess costs as much as a hundred bytes.
struct JSONParser {
    /// What is wrong begins at a byte, counted from 0.
    struct Failure: Error, Equatable {
        let offset: Int
    }

    /// How many arrays and objects may be inside each other.
    static let depthLimit = 256

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads all bytes as a single value.
    mutating func value() throws(Failure) -> JSONValue {
        let value = try next()
        skipBlanks()
        guard index == bytes.count else { throw failure }
        return value
    }

    private var failure: Failure { Failure(offset: index) }
    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func next() throws(Failure) -> JSONValue {
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
        while let byte, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    /// Skips a byte if it comes next, after blanks.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard byte == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func require(_ character: Unicode.Scalar) throws(Failure) {
        guard skip(character) else { throw failure }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Failure) -> JSONValue {
        guard bytes[index...].starts(with: word.utf8) else { throw failure }
        index += word.utf8.count
        return value
    }
}

// MARK: - Arrays and objects

extension JSONParser {
    private mutating func enter() throws(Failure) {
        guard depth < Self.depthLimit else { throw failure }
        depth += 1
        index += 1
    }

    private mutating func elements() throws(Failure) -> [JSONValue] {
        try enter()
        defer { depth -= 1 }
        if skip("]") { return [] }
        var elements: [JSONValue] = []
        repeat { elements.append(try next()) } while skip(",")
        try require("]")
        return elements
    }

    private mutating func members() throws(Failure) -> [(key: String, value: JSONValue)] {
        try enter()
        defer { depth -= 1 }
        if skip("}") { return [] }
        var members: [(key: String, value: JSONValue)] = []
        repeat {
            skipBlanks()
            let name = try string()
            try require(":")
            members.append((name, try next()))
        } while skip(",")
        try require("}")
        return members
    }
}

// MARK: - Strings

extension JSONParser {
    private mutating func string() throws(Failure) -> String {
        guard byte == UInt8(ascii: "\"") else { throw failure }
        index += 1
        let start = index
        var text: [UInt8] = []
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw Failure(offset: start)
                }
                index += 1
                return string
            case UInt8(ascii: "\\"): text += String(try escaped()).utf8
            case 0..<0x20: throw failure
            default:
                text.append(byte)
                index += 1
            }
        }
        throw failure
    }

    /// Reads the character that a backslash begins.
    private mutating func escaped() throws(Failure) -> Unicode.Scalar {
        index += 1
        guard let byte else { throw failure }
        index += 1
        switch Unicode.Scalar(byte) {
        case "\"": return "\""
        case "\\": return "\\"
        case "/": return "/"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try unicode()
        default: throw Failure(offset: index - 1)
        }
    }

    /// Reads four digits, or twice four for a character that takes two units of UTF-16.
    private mutating func unicode() throws(Failure) -> Unicode.Scalar {
        let start = index
        let unit = try unit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard bytes[index...].starts(with: "\\u".utf8) else { throw Failure(offset: start) }
        index += 2
        let units = [unit, try self.unit()]
        var decoder = UTF16()
        var iterator = units.makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator), iterator.next() == nil
        else { throw Failure(offset: start) }
        return scalar
    }

    private mutating func unit() throws(Failure) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}

// MARK: - Numbers

extension JSONParser {
    /// Reads a number: an integer where one is written that is not too large.
    private mutating func number() throws(Failure) -> JSONValue {
        let start = index
        var isInteger = true
        if byte == UInt8(ascii: "-") { index += 1 }
        if byte == UInt8(ascii: "0") { index += 1 } else { try digits() }
        if byte == UInt8(ascii: ".") {
            isInteger = false
            index += 1
            try digits()
        }
        if let byte, [UInt8(ascii: "e"), UInt8(ascii: "E")].contains(byte) {
            isInteger = false
            index += 1
            if let byte = self.byte, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(byte) {
                index += 1
            }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isInteger, let number = Int64(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { throw Failure(offset: start) }
        return .number(number)
    }

    private mutating func digits() throws(Failure) {
        let start = index
        while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw failure }
    }
}
