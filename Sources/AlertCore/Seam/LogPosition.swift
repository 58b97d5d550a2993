/// A reader's position in a queue.
package struct LogPosition: Sendable, Hashable, Codable {
    /// The last entry of the audit log that has been seen; 0 for none.
    package var sequence: Int64
    /// How many changes the store had noticed then; `nil` if that is unknown, so that the reader
    /// looks once more.
    package var changes: Changes?

    package struct Changes: Sendable, Hashable, Codable {
        /// The number of changes in ``News/Scope/everybody``.
        package var all: UInt64
        /// The number of changes in ``News/Scope/others``.
        package var byOthers: UInt64

        package init(all: UInt64, byOthers: UInt64) {
            self.all = all
            self.byOthers = byOthers
        }

        package subscript(scope: News.Scope) -> UInt64 {
            switch scope {
            case .others: byOthers
            case .everybody: all
            }
        }
    }

    package init(sequence: Int64, changes: Changes? = nil) {
        self.sequence = sequence
        self.changes = changes
    }
}
