import CSQLite

// Overwriting what deleted rows have left in the file.
//
// With `secure_delete` SQLite overwrites what it deletes. But a page that is rebuilt when rows move
// between pages keeps, between its list of cells and the cells, bytes of its earlier cells. They
// are never read again, and overwriting them has no other effect: a crash halfway does no harm
// either.
extension Database {
    /// From this many pages on, the first byte no longer distinguishes a b-tree's page from others.
    private static let mostPages = 1 << 25

    /// Overwrites the unused space of some pages of the file with zeros, bypassing SQLite's cache.
    ///
    /// The write-ahead log must be empty, and this connection must hold the write lock, so that no
    /// other one writes to the file. Afterwards the caller must make every connection discard its
    /// pages, with a commit and ``forgetPages()``. See
    /// <https://sqlite.org/fileformat2.html#b_tree_pages>.
    ///
    /// - Returns: The page to continue with, or `nil` at the end of the file; and the file's pages.
    package func clearUnallocatedSpace(
        from page: Int, count: Int
    ) throws(SQLiteError) -> (next: Int?, total: Int) {
        let file = try file()
        let total = Int(try file.size()) / pageSize
        guard total < Self.mostPages else {
            throw SQLiteError(
                code: SQLITE_TOOBIG, message: "the file has too many pages",
                operation: "overwrite unallocated space")
        }
        var bytes = [UInt8](repeating: 0, count: pageSize)
        let end = min(total, page + count)
        for number in page..<max(page, end) {
            try file.read(&bytes, at: number * pageSize)
            for gap in UnallocatedSpace.of(bytes, isFirst: number == 0)
            where bytes[gap].contains(where: { $0 != 0 }) {
                let zeros = [UInt8](repeating: 0, count: gap.count)
                try file.write(zeros, at: number * pageSize + gap.lowerBound)
            }
        }
        return (end < total ? end : nil, total)
    }

    /// Syncs the bytes that were written past the cache.
    package func syncFile() throws(SQLiteError) { try file().sync() }

    /// Discards all pages in this connection's cache; see
    /// <https://sqlite.org/c3ref/db_release_memory.html>.
    package func forgetPages() { sqlite3_db_release_memory(connection) }

    private var pageSize: Int {
        // If even this can't be read, the next read fails.
        (try? first("PRAGMA page_size") { Int($0.integer()) }) ?? 4096
    }
}

/// The unused parts of a page in the database file.
package enum UnallocatedSpace {
    /// The gap between the list of cells and the cells, and the free blocks among these; none for a
    /// page that is not a b-tree's, or is malformed.
    package static func of(_ page: [UInt8], isFirst: Bool) -> [Range<Int>] {
        let header = isFirst ? 100 : 0
        let number = { (at: Int) in Int(page[at]) << 8 | Int(page[at + 1]) }
        let headerLength: Int
        switch page[header] {
        case 2, 5: headerLength = 12
        case 10, 13: headerLength = 8
        default: return []
        }
        let gap = header + headerLength + 2 * number(header + 3)
        // 0 means 65,536.
        let cells = number(header + 5) == 0 ? 65_536 : number(header + 5)
        guard gap <= cells, cells <= page.count else { return [] }
        var gaps = [gap..<cells]
        var block = number(header + 1)
        while block != 0 {
            guard block >= cells, block + 4 <= page.count else { return [] }
            let (next, size) = (number(block), number(block + 2))
            guard size >= 4, block + size <= page.count, next == 0 || next >= block + size else {
                return []
            }
            gaps.append((block + 4)..<(block + size))
            block = next
        }
        return gaps
    }
}
