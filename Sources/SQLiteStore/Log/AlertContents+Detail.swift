import AlertCore
import SQLite

// What the entry of an ask says besides its columns.
extension AlertContents {
    private static let leaves = Array("alertq-leaves-1".utf8)
    private static let key = Array("alertq-key-1".utf8)

    /// Whether the entry of an ask says of the clocks and timers what the row says, in the older
    /// form or in today's: `EntryDetail.asked`, in bytes.
    func hasDetail(_ row: borrowing Row, _ told: RawColumn) throws -> Bool {
        let hasDeadline = !row.isNull(16)
        let isOnWallClock = row.isNull(18)
        guard hasDeadline || isOnWallClock else { return false }
        isOlder = told.kind == .null || (hasDeadline && told.bytes.count == Self.olderLength)
        guard told.kind != .null else { return !hasDeadline }
        detail.beginText()
        if hasDeadline {
            detail.plain("expires ")
            guard detail.time(milliseconds: row.integer(16)) else { return false }
            if isOlder {
                return !isOnWallClock && told.kind == .text && told.holds(detail.written)
            }
            if isOnWallClock {
                detail.plain(", wall clock; ")
            } else {
                detail.plain(", boot clock ")
                detail.decimal(row.integer(18))
                detail.plain(" ms; ")
            }
        }
        if !row.isNull(20) {
            detail.plain("dismiss after ")
            detail.decimal(row.integer(20))
            detail.plain(" ms; ")
        }
        if !row.isNull(21) {
            detail.plain("snooze ")
            detail.decimal(row.integer(21))
            detail.plain(" ms; ")
        }
        guard try addLeaves(row), try addKey(row, told) else { return false }
        detail.plain("asked at ")
        detail.decimal(row.integer(17))
        detail.plain(" ms in boot ")
        detail.plain(row.raw(19).bytes)
        return told.kind == .text && told.holds(detail.written)
    }

    /// Adds the hash of what an erasure leaves, or has left.
    private func addLeaves(_ row: borrowing Row) throws -> Bool {
        input.begin(Self.leaves)
        guard text(row.raw(0)) else { return false }
        let name = row.raw(3)
        if row.isNull(10) {
            let left = try StoredJSON.partialButtons(row.text(8))
            guard text(name), try addRouting(row) else { return false }
            input.append(ButtonCache.hashed(left))
        } else {
            guard let buttons = try known.buttons(row.raw(8)) else { return false }
            let isLeft =
                name.kind == .text && buttons.leftIDs.contains { $0.withUnsafeBytes(name.holds) }
            if isLeft { input.text(name.bytes) } else { input.absent() }
            guard try addRouting(row) else { return false }
            input.append(buttons.left)
        }
        input.hash(into: digest)
        detail.plain("leaves ")
        detail.hexDigits(UnsafeRawBufferPointer(digest))
        detail.plain("; ")
        return true
    }

    /// Adds the digest of the key to what is expected, with the salt that the entry tells; once the
    /// texts are gone, also the hash that it tells.
    private func addKey(_ row: borrowing Row, _ told: RawColumn) throws -> Bool {
        guard !row.isNull(5) else { return true }
        let start = detail.written.count
        // `key `, the salt, a space, the hash, and `; `.
        guard told.bytes.count >= start + 4 + 32 + 1 + 64 + 2 else { return false }
        let words = told.bytes[start..<(start + 4 + 32 + 1 + 64)]
        let salt = UnsafeRawBufferPointer(rebasing: words.dropFirst(4).prefix(32))
        guard (salt + words.suffix(64)).allSatisfy(Hex.isDigit) else { return false }
        detail.plain("key ")
        detail.plain(salt)
        detail.plain(" ")
        if row.isNull(10) {
            detail.plain(UnsafeRawBufferPointer(rebasing: words.suffix(64)))
        } else {
            input.begin(Self.key)
            input.text(salt)
            for column: Int32 in [11, 5, 0, 1, 2, 3] where !text(row.raw(column)) { return false }
            guard let buttons = try known.buttons(row.raw(8)) else { return false }
            input.append(buttons.hashed)
            try addInfo(row)
            input.hash(into: digest)
            detail.hexDigits(UnsafeRawBufferPointer(digest))
        }
        detail.plain("; ")
        return true
    }

    /// The length of `expires 2026-11-20T10:05:00.000Z`.
    private static let olderLength = 32
}
