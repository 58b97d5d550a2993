import AlertCore
import SQLite

// The detail of an ask's entry, compared with the row.
extension AlertContents {
    /// Whether the detail of an ask's entry matches the clocks and timers of the row, in the older
    /// or the current form: `EntryDetail.asked`, in bytes.
    func hasDetail(_ row: borrowing Row, _ logged: RawColumn) throws -> Bool {
        let hasDeadline = !row.isNull(Asked.expiresMs)
        let isOnWallClock = row.isNull(Asked.expiresBootMs)
        guard hasDeadline || isOnWallClock else { return false }
        isOlder = logged.kind == .null || (hasDeadline && logged.bytes.count == Self.olderLength)
        guard logged.kind != .null else { return !hasDeadline }
        detail.beginText()
        if hasDeadline {
            detail.plain("expires ")
            guard detail.time(milliseconds: row.integer(Asked.expiresMs)) else { return false }
            if isOlder {
                return !isOnWallClock && logged.kind == .text && logged.holds(detail.written)
            }
            if isOnWallClock {
                detail.plain(", wall clock; ")
            } else {
                detail.plain(", boot clock ")
                detail.decimal(row.integer(Asked.expiresBootMs))
                detail.plain(" ms; ")
            }
        }
        if !row.isNull(Asked.dismissAfterMs) {
            detail.plain("dismiss after ")
            detail.decimal(row.integer(Asked.dismissAfterMs))
            detail.plain(" ms; ")
        }
        if !row.isNull(Asked.snoozeMs) {
            detail.plain("snooze ")
            detail.decimal(row.integer(Asked.snoozeMs))
            detail.plain(" ms; ")
        }
        try addLeaves(row)
        guard try addKey(row, logged) else { return false }
        detail.plain("asked at ")
        detail.decimal(row.integer(Asked.askedBootMs))
        detail.plain(" ms in boot ")
        detail.plain(row.raw(Asked.boot).bytes)
        return logged.kind == .text && logged.holds(detail.written)
    }

    /// Adds the hash of what an erasure leaves or has left.
    private func addLeaves(_ row: borrowing Row) throws {
        try AlertHash.leaves.write(to: input) { part in try add(part, of: row) }
        input.hash(into: digest)
        detail.plain("leaves ")
        detail.hexDigits(UnsafeRawBufferPointer(digest))
        detail.plain("; ")
    }

    /// Adds the digest of the key to the expected text, with the salt in the entry and, once the
    /// texts are erased, the hash in the entry.
    private func addKey(_ row: borrowing Row, _ logged: RawColumn) throws -> Bool {
        guard !row.isNull(Asked.key) else { return true }
        let start = detail.written.count
        // `key `, the salt, a space, the hash, and `; `.
        guard logged.bytes.count >= start + 4 + 32 + 1 + 64 + 2 else { return false }
        let words = logged.bytes[start..<(start + 4 + 32 + 1 + 64)]
        let salt = UnsafeRawBufferPointer(rebasing: words.dropFirst(4).prefix(32))
        guard (salt + words.suffix(64)).allSatisfy(Hex.isDigit) else { return false }
        detail.plain("key ")
        detail.plain(salt)
        detail.plain(" ")
        if row.isNull(Asked.salt) {
            detail.plain(UnsafeRawBufferPointer(rebasing: words.suffix(64)))
        } else {
            try AlertHash.key.write(to: input) { part in
                if case .salt = part { input.text(salt) } else { try add(part, of: row) }
            }
            input.hash(into: digest)
            detail.hexDigits(UnsafeRawBufferPointer(digest))
        }
        detail.plain("; ")
        return true
    }

    /// The length of `expires 2026-11-20T10:05:00.000Z`.
    private static let olderLength = 32
}
