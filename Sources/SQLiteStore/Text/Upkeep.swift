import AlertCore
import SQLite

/// How far the index of words goes, and what the store knows of its own upkeep.
struct Upkeep: Sendable {
    /// The index has all responses up to this one.
    let indexed: Int64
    /// The newest time among them.
    let newest: Int64?
    /// The farthest that one of them lies before an earlier one, in milliseconds.
    let disorder: Int64
    /// How often texts were erased.
    let erasures: Int64
    /// Up to which of these times they are known to be gone from all files.
    let erasuresDone: Int64

    enum Column: Int32, ColumnList {
        case indexedSeq, newestMs, disorderMs, erasures, erasuresDone
    }

    static let query = "SELECT \(Column.list) FROM upkeep"
}
