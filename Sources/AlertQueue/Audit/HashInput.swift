import Glibc

/// The bytes of ``CanonicalBytes``, written into memory that can be used again for the next hash.
///
/// That way millions of entries are verified straight from where SQLite has them.
final class HashInput {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity = 4096
    private(set) var count = 0

    init() {
        start = .allocate(capacity: capacity)
    }

    deinit {
        start.deallocate()
    }

    /// Begins anew.
    func begin(_ kind: [UInt8]) {
        count = 0
        kind.withUnsafeBytes(text)
    }

    /// A netstring, `length:bytes,`.
    func text(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count + 24)
        digits(UInt64(bytes.count))
        put(UInt8(ascii: ":"))
        if let source = bytes.baseAddress { memcpy(start + count, source, bytes.count) }
        count &+= bytes.count
        put(UInt8(ascii: ","))
    }

    /// The netstring of a number's decimal digits.
    func number(_ value: Int64) {
        reserve(32)
        // 18446744073709551615 has 20 digits, so the length has two at most.
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
        for place in stride(from: count + length - 1, through: count, by: -1) {
            start[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count &+= length
        put(UInt8(ascii: ","))
    }

    /// The netstring of bytes as hexadecimal digits.
    func hex(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count * 2 + 24)
        digits(UInt64(bytes.count * 2))
        put(UInt8(ascii: ":"))
        for byte in bytes {
            put(Hex.digit(byte >> 4))
            put(Hex.digit(byte & 15))
        }
        put(UInt8(ascii: ","))
    }

    func absent() {
        reserve(2)
        put(UInt8(ascii: "-"))
        put(UInt8(ascii: ","))
    }

    /// Bytes that are netstrings already.
    func append(_ bytes: [UInt8]) {
        reserve(bytes.count)
        bytes.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { memcpy(start + count, source, bytes.count) }
        }
        count &+= bytes.count
    }

    /// What has been written since ``begin(_:)``.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// Writes the hash of it all into a buffer of 32 bytes.
    func hash(into digest: UnsafeMutableRawBufferPointer) {
        SHA256.hash(UnsafeRawBufferPointer(start: start, count: count), into: digest)
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
