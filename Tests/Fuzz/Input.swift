import Glibc

/// The bytes of one try, taken from the front in the form that a subject needs.
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

    /// Any number; the ends of the range come often.
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

    /// Up to 255 bytes with their length before them.
    mutating func bytes() -> [UInt8] {
        let count = Int(byte())
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// A text; what is no UTF-8 is repaired.
    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    /// Everything that is left.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    mutating func remainingText() -> String { String(decoding: remainder(), as: UTF8.self) }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }
}

/// Ends the try as a finding when something that must hold does not.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition {
        let line = "Expectation failed: \(message())\n"
        write(STDERR_FILENO, line, line.utf8.count)
        preconditionFailure()
    }
}

extension String {
    /// The same code points, not only the same characters.
    func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
