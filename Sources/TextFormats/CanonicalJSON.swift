/// JSON that is written in the one way that RFC 8785 has for it: without blanks, and with no escapes
/// but those that JSON needs. Numbers must be integers, and members in the order of their names.
///
/// Bytes are collected: a `String` takes five times as long for each of many short pieces.
package struct CanonicalJSON {
    private var bytes: [UInt8] = []

    package init() { bytes.reserveCapacity(256) }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes what JSON has as it is, such as `{"id":`.
    package mutating func write(_ word: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(
                start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    package mutating func write(digits: String) { bytes.append(contentsOf: digits.utf8) }

    /// Writes a string in its quotes.
    package mutating func write(string: String) {
        write("\"")
        let isWritten = string.utf8.withContiguousStorageIfAvailable { text in
            guard !Self.needsEscapes(text) else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        if isWritten != true { for byte in string.utf8 { write(escaping: byte) } }
        write("\"")
    }

    /// Looks at all bytes, many at once: without a jump for each, the compiler can do that.
    private static func needsEscapes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in text {
            found |= byte < 0x20 ? 1 : 0
            found |= byte == UInt8(ascii: "\"") ? 1 : 0
            found |= byte == UInt8(ascii: "\\") ? 1 : 0
        }
        return found != 0
    }

    private mutating func write(escaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): write("\\\"")
        case UInt8(ascii: "\\"): write("\\\\")
        case 0x08: write("\\b")
        case 0x09: write("\\t")
        case 0x0A: write("\\n")
        case 0x0C: write("\\f")
        case 0x0D: write("\\r")
        case ..<0x20:
            write(byte < 0x10 ? "\\u000" : "\\u001")
            write(digits: String(byte & 0x0F, radix: 16))
        default: bytes.append(byte)
        }
    }
}
