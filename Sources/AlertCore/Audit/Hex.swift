/// Lower-case hexadecimal.
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

    package static func bytes(_ text: some StringProtocol) -> [UInt8]? { bytes(text.utf8) }

    static func bytes(_ digits: some Collection<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var rest = digits.makeIterator()
        let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 2) { buffer, count in
            while let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) {
                buffer[count] = high << 4 | low
                count += 1
            }
        }
        return bytes.count == digits.count / 2 ? bytes : nil
    }

    /// The number that a digit of either case stands for.
    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
