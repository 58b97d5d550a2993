import AlertCore
import SQLite

/// The extent of the search index, and the state of erasures.
struct Upkeep: Sendable {
    /// The last response that is in the index, along with all before it.
    let indexed: Int64
    /// The newest time among these responses.
    let newest: Int64?
    /// The farthest that the time of one of them is before that of an earlier one, in milliseconds.
    let disorder: Int64
    /// How often texts were erased.
    let erasures: Int64
    /// How many of these erasures are known to be complete in all files.
    let erasuresDone: Int64

    enum Column: Int, ColumnList {
        case indexedSeq, newestMs, disorderMs, erasures, erasuresDone
    }

    static let query = "SELECT \(Column.list) FROM upkeep"
}
