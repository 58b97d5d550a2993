import Foundation
import SQLite
import StoreTesting
import Testing

/// The only page of a small index, to be edited without SQLite.
///
/// See <https://sqlite.org/fileformat2.html#b_tree_pages>: in a leaf's header the number of cells
/// is at 3, and their offsets begin at 8.
struct IndexPage {
    private let path: String
    private let offset: UInt64
    private let page: [UInt8]
    let count: Int

    init(_ name: String, of queue: TemporaryQueue) throws {
        path = queue.path
        let db = try queue.connection()
        try #require(try db.checkpoint(.truncate))
        let root = try queue.integer(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", .text(name))
        let size = try queue.integer("PRAGMA page_size") ?? 0
        offset = UInt64(((root ?? 1) - 1) * size)
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        try file.seek(toOffset: offset)
        page = Array(try file.read(upToCount: Int(size)) ?? Data())
        try file.close()
        count = Int(page[3]) << 8 | Int(page[4])
    }

    /// Puts the cells into another order.
    func reorder(_ order: [Int]) throws {
        var page = page
        for (slot, old) in order.enumerated() {
            for byte in 0..<2 { page[8 + 2 * slot + byte] = self.page[8 + 2 * old + byte] }
        }
        try write(page)
    }

    func restore() throws { try write(page) }

    private func write(_ page: [UInt8]) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: page)
        try file.close()
    }
}
