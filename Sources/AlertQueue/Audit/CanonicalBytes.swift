/// The bytes that the audit log hashes: fields one after the other, each unmistakable.
///
/// A text is written as a netstring, `length:bytes,` with the length in decimal
/// (<https://cr.yp.to/proto/netstrings.txt>); a number as the netstring of its decimal digits;
/// bytes as the netstring of their lower-case hexadecimal digits; an absent value as `-,`.
package struct CanonicalBytes {
    package private(set) var bytes: [UInt8] = []

    package init(_ kind: String) {
        bytes.reserveCapacity(512)
        append(kind)
    }

    package mutating func append(_ text: String?) {
        guard var text else {
            bytes += [UInt8(ascii: "-"), UInt8(ascii: ",")]
            return
        }
        text.withUTF8 { utf8 in
            appendDigits(UInt64(utf8.count))
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: utf8)
        }
        bytes.append(UInt8(ascii: ","))
    }

    package mutating func append(_ number: Int64?) {
        guard let number else { return append(nil as String?) }
        let magnitude = number.magnitude
        appendDigits(UInt64(Self.digitCount(magnitude) + (number < 0 ? 1 : 0)))
        bytes.append(UInt8(ascii: ":"))
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(magnitude)
        bytes.append(UInt8(ascii: ","))
    }

    package mutating func append(hex: [UInt8]?) {
        guard let hex else { return append(nil as String?) }
        appendDigits(UInt64(hex.count * 2))
        bytes.append(UInt8(ascii: ":"))
        for byte in hex {
            bytes.append(Hex.digit(byte >> 4))
            bytes.append(Hex.digit(byte & 15))
        }
        bytes.append(UInt8(ascii: ","))
    }

    private static func digitCount(_ number: UInt64) -> Int {
        var (count, rest) = (1, number)
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }

    private mutating func appendDigits(_ number: UInt64) {
        if number >= 10 { appendDigits(number / 10) }
        bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
    }
}

/// Hexadecimal, lower case.
package enum Hex {
    package static func text(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[index * 2] = digit(byte >> 4)
                buffer[index * 2 + 1] = digit(byte & 15)
            }
            return bytes.count * 2
        }
    }

    /// The digit of a number from 0 to 15.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2), text.allSatisfy(\.isHexDigit) else { return nil }
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
