import Glibc

/// The bytes that the audit log hashes: a sequence of self-delimiting fields.
///
/// A text is written as a netstring, `length:bytes,` with the length in decimal
/// (<https://cr.yp.to/proto/netstrings.txt>); a number as the netstring of its decimal digits;
/// bytes as the netstring of their lower-case hexadecimal digits; an absent value as `-,`.
///
/// The bytes are written into memory that is reused for the next hash, because a verification hashes
/// millions of entries.
package final class HashInput {
    private var start: UnsafeMutablePointer<UInt8>
    // What malloc(3) keeps ready: most inputs fit, and a page of the history has hundreds.
    private var capacity = 1024
    // Private, because the compiler checks exclusive access to what other modules may read:
    // verifying the log took a quarter more instructions with those checks.
    private var count = 0

    package init() {
        start = .allocate(capacity: capacity)
    }

    deinit {
        start.deallocate()
    }

    /// Starts over with a new kind.
    package func begin(_ kind: [UInt8]) {
        count = 0
        kind.withUnsafeBytes(text)
    }

    /// Appends a netstring, `length:bytes,`.
    package func text(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count + 24)
        digits(UInt64(bytes.count))
        put(UInt8(ascii: ":"))
        if let source = bytes.baseAddress { memcpy(start + count, source, bytes.count) }
        count &+= bytes.count
        put(UInt8(ascii: ","))
    }

    /// Appends the netstring of a number's decimal digits.
    package func number(_ value: Int64) {
        reserve(32)
        // 18446744073709551615 has 20 digits, so the length has at most two.
        let (sign, size) = (value < 0 ? 1 : 0, value.magnitude)
        var length = 1
        var rest = size
        while rest >= 10 {
            rest /= 10
            length &+= 1
        }
        digits(UInt64(length + sign))
        put(UInt8(ascii: ":"))
        if sign > 0 { put(UInt8(ascii: "-")) }
        rest = size
        for index in stride(from: count + length - 1, through: count, by: -1) {
            start[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count &+= length
        put(UInt8(ascii: ","))
    }

    /// Appends the netstring of bytes as hexadecimal digits.
    package func hex(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count * 2 + 24)
        digits(UInt64(bytes.count * 2))
        put(UInt8(ascii: ":"))
        for byte in bytes {
            put(Hex.digit(byte >> 4))
            put(Hex.digit(byte & 15))
        }
        put(UInt8(ascii: ","))
    }

    package func absent() {
        reserve(2)
        put(UInt8(ascii: "-"))
        put(UInt8(ascii: ","))
    }

    /// The bytes written since ``begin(_:)``.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// The hash of all bytes.
    package var hash: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { digest, count in
            SHA256.hash(
                UnsafeRawBufferPointer(start: start, count: self.count),
                into: UnsafeMutableRawBufferPointer(digest))
            count = SHA256.byteCount
        }
    }

    private func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        let larger = max(capacity * 2, count + more)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: start, count: count)
        start.deallocate()
        (start, capacity) = (moved, larger)
    }

    @inline(__always)
    private func put(_ byte: UInt8) {
        start[count] = byte
        count &+= 1
    }

    private func digits(_ number: UInt64) {
        if number >= 10 { digits(number / 10) }
        put(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number % 10))
    }
}
