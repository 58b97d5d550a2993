import Glibc

/// A column's value in SQLite's memory; it is invalid once the statement moves on.
package struct RawColumn {
    package enum Kind: Sendable {
        case null
        case integer
        case real
        case text
        case blob
    }

    package let kind: Kind
    /// The number of an integer, else 0.
    package var integer: Int64 = 0
    /// The bytes of a text or a blob, else none.
    package var bytes = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Whether the bytes equal these.
    package func holds(_ other: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == other.count else { return false }
        guard let mine = bytes.baseAddress, let its = other.baseAddress else { return true }
        return memcmp(mine, its, bytes.count) == 0
    }

    /// Whether the bytes equal those of a text.
    package func holds(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { holds(UnsafeRawBufferPointer($0)) }
    }
}
