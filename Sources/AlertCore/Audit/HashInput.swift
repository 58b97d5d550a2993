import Glibc

/// The bytes that the audit log hashes: a sequence of self-delimiting fields.
///
/// A text is written as a netstring, `length:bytes,` with the length in decimal
/// (<https://cr.yp.to/proto/netstrings.txt>); a number as the netstring of its decimal digits;
/// bytes as the netstring of their lower-case hexadecimal digits; an absent value as `-,`.
///
/// The bytes are written into memory that is reused for the next hash, so that millions of entries
/// are verified straight from SQLite's memory.
package final class HashInput {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity = 4096
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
        hexDigits(bytes)
        put(UInt8(ascii: ","))
    }

    package func absent() {
        reserve(2)
        put(UInt8(ascii: "-"))
        put(UInt8(ascii: ","))
    }

    /// Appends bytes that are already netstrings.
    package func append(netstrings bytes: [UInt8]) { bytes.withUnsafeBytes(plain) }

    /// Whether everything written so far is UTF-8: other bytes would be read as different text.
    package var isValidText: Bool {
        let bytes = UnsafeBufferPointer(start: start, count: count)
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        return all < 0x80 || String(validating: bytes, as: UTF8.self) != nil
    }

    /// The bytes written since ``begin(_:)``.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// Writes the hash of all bytes into a buffer of 32 bytes.
    package func hash(into digest: UnsafeMutableRawBufferPointer) {
        SHA256.hash(UnsafeRawBufferPointer(start: start, count: count), into: digest)
    }

    /// The hash of all bytes.
    package var hash: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { digest, count in
            hash(into: UnsafeMutableRawBufferPointer(digest))
            count = SHA256.byteCount
        }
    }

    // MARK: - Text that is compared instead of hashed

    /// Starts over with a text of an entry, which is not a netstring.
    package func beginText() { count = 0 }

    /// The bytes written so far, valid until something else is written.
    package var written: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: count)
    }

    /// Appends the text itself.
    package func plain(_ text: StaticString) {
        plain(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package func plain(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        if let source = bytes.baseAddress { memcpy(start + count, source, bytes.count) }
        count &+= bytes.count
    }

    /// Appends the hexadecimal digits of bytes.
    package func hexDigits(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count * 2 + 1)
        var end = start + count
        for byte in bytes {
            end[0] = Hex.digit(byte >> 4)
            end[1] = Hex.digit(byte & 15)
            end += 2
        }
        count &+= bytes.count * 2
    }

    /// Appends a number's decimal digits.
    package func decimal(_ value: Int64) {
        reserve(24)
        if value < 0 { put(UInt8(ascii: "-")) }
        digits(value.magnitude)
    }

    /// Appends a time as ``Timestamp/text(_:)`` writes it; `false` for one outside
    /// ``Timestamp/plain``.
    ///
    /// The days are counted as in <https://howardhinnant.github.io/date_algorithms.html>.
    package func time(milliseconds: Int64) -> Bool {
        guard Timestamp.plain.contains(milliseconds) else { return false }
        reserve(32)
        let (day, rest) = (milliseconds / 86_400_000 + 719_468, milliseconds % 86_400_000)
        let (era, dayOfEra) = (day / 146_097, day % 146_097)
        let years = dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096
        let yearOfEra = years / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        padded(yearOfEra + era * 400 + (month < 3 ? 1 : 0), 1000, "-")
        padded(month, 10, "-")
        padded(dayOfYear - (153 * marchMonth + 2) / 5 + 1, 10, "T")
        padded(rest / 3_600_000, 10, ":")
        padded(rest / 60_000 % 60, 10, ":")
        padded(rest / 1000 % 60, 10, ".")
        padded(rest % 1000, 100, "Z")
        return true
    }

    /// Appends a number's digits, starting at the given power of ten, and the character after them.
    private func padded(_ value: Int64, _ first: Int64, _ end: Unicode.Scalar) {
        var power = first
        while power > 0 {
            put(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / power % 10))
            power /= 10
        }
        put(UInt8(ascii: end))
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
