import Glibc

/// The bytes of one input, consumed from the front in the form that a subject needs.
struct Input {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) {
        rest = Array(bytes)[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number from 0 to below `count`.
    mutating func number(below count: Int) -> Int {
        count <= 1 ? 0 : Int(byte()) % count
    }

    /// Any number; the limits of the range come often.
    mutating func integer() -> Int64 {
        switch byte() {
        case 0: return 0
        case 1: return .min
        case 2: return .max
        case 3: return Int64(byte())
        case 4: return -Int64(byte())
        case 5: return Int64(UInt32.max) + Int64(byte()) - 128
        default:
            return (0..<8).reduce(0) { number, _ in number << 8 | Int64(byte()) }
        }
    }

    /// Up to 255 bytes, preceded by their length.
    mutating func bytes() -> [UInt8] {
        let count = Int(byte())
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// A text; invalid UTF-8 is repaired.
    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    /// All remaining bytes.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    mutating func remainingText() -> String { String(decoding: remainder(), as: UTF8.self) }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }
}

/// Ends the program, which the fuzzer reports as a finding, if a condition does not hold.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition {
        let line = "Expectation failed: \(message())\n"
        write(STDERR_FILENO, line, line.utf8.count)
        preconditionFailure()
    }
}

extension String {
    /// Whether two texts have the same code points, not only the same characters.
    func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
