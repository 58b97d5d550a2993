import AlertQueue

/// A strict reader of JSON; see RFC 8259.
///
/// It refuses whatever two readers could understand differently: a name that an object has twice,
/// half of a surrogate pair, bytes that are not UTF-8, and anything after the value.
struct HookJSONReader {
    /// How deep arrays and objects may be nested.
    static let maximumDepth = 64

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a text that is one value.
    ///
    /// - Throws: ``CommandError``, which says what is wrong and at which byte.
    static func value(of bytes: [UInt8]) throws(CommandError) -> HookJSON {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw CommandError(.badData, "it is not valid UTF-8")
        }
        var reader = HookJSONReader(bytes)
        reader.skipSpace()
        guard reader.byte != nil else { throw CommandError(.badData, "it is empty") }
        let value = try reader.value()
        reader.skipSpace()
        guard reader.byte == nil else { throw reader.problem("something follows the value") }
        return value
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private func problem(_ what: String) -> CommandError {
        CommandError(
            .badData,
            byte == nil ? "it ends too early" : "\(what) at byte \(position)")
    }

    /// Skips the next character if it is the given one; returns whether it was.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard byte == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(CommandError) -> HookJSON {
        switch byte.map({ Unicode.Scalar($0) }) {
        case "{"?: return try object()
        case "["?: return try array()
        case "\""?: return .string(try string())
        case "t"?: return try word("true", .bool(true))
        case "f"?: return try word("false", .bool(false))
        case "n"?: return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(
        _ word: String, _ value: HookJSON
    ) throws(CommandError) -> HookJSON {
        for expected in word.utf8 {
            guard byte == expected else { throw problem("there is no value") }
            position += 1
        }
        return value
    }
}

// MARK: - Lists

extension HookJSONReader {
    private mutating func array() throws(CommandError) -> HookJSON {
        var values: [HookJSON] = []
        try list(until: "]") { reader throws(CommandError) in
            values.append(try reader.value())
        }
        return .array(values)
    }

    private mutating func object() throws(CommandError) -> HookJSON {
        var members: [HookJSON.Member] = []
        var names: Set<[UInt8]> = []
        try list(until: "}") { reader throws(CommandError) in
            let name = try reader.string()
            guard names.insert(Array(name.utf8)).inserted else {
                throw CommandError(.badData, "an object has two members “\(name)”")
            }
            reader.skipSpace()
            guard reader.skip(":") else { throw reader.problem("a colon is missing") }
            reader.skipSpace()
            members.append(HookJSON.Member(name: name, value: try reader.value()))
        }
        return .object(members)
    }

    private mutating func list(
        until end: Unicode.Scalar,
        _ element: (inout HookJSONReader) throws(CommandError) -> Void
    ) throws(CommandError) {
        guard depth < Self.maximumDepth else {
            throw CommandError(.badData, "it is nested deeper than \(Self.maximumDepth) levels")
        }
        depth += 1
        defer { depth -= 1 }
        position += 1
        skipSpace()
        if skip(end) { return }
        while true {
            try element(&self)
            skipSpace()
            if skip(end) { return }
            guard skip(",") else { throw problem("a comma is missing") }
            skipSpace()
        }
    }
}

// MARK: - Numbers

extension HookJSONReader {
    private mutating func number() throws(CommandError) -> String {
        let start = position
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(CommandError) {
        let start = position
        while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw problem("there is no value") }
    }
}

// MARK: - Strings

extension HookJSONReader {
    private mutating func string() throws(CommandError) -> String {
        guard skip("\"") else { throw problem("a string is missing") }
        var text: [UInt8] = []
        while let byte {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += String(try escaped()).utf8
            case 0..<0x20:
                position -= 1
                throw problem("a string has a control character that is not escaped")
            default: text.append(byte)
            }
        }
        throw problem("")
    }

    private mutating func escaped() throws(CommandError) -> Unicode.Scalar {
        guard let byte else { throw problem("") }
        position += 1
        switch Unicode.Scalar(byte) {
        case "\"", "\\", "/": return Unicode.Scalar(byte)
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try codePoint()
        default:
            position -= 1
            throw problem("there is an unknown escape")
        }
    }

    private mutating func codePoint() throws(CommandError) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), skip("\\"), skip("u") else {
            throw problem("half of a surrogate pair ends")
        }
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else {
            throw problem("half of a surrogate pair ends")
        }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func codeUnit() throws(CommandError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let digit = byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard let digit else { throw problem("an escape has too few digits") }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}
