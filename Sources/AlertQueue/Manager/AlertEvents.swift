/// Everything that happens in a queue, in whatever process, as it happens and in the log's order.
///
/// It reads the audit log from a cursor, so that each event comes once, memory stays bounded, and
/// a reader can go on later after the last ``AlertEvent/sequence`` that it has seen.
public struct AlertEvents: AsyncSequence, Sendable {
    let store: any AlertStore
    let start: Int64

    /// Starts reading at the sequence's own place in the log.
    public func makeAsyncIterator() -> Iterator {
        Iterator(store: store, cursor: start)
    }

    /// Reads events one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private static let pageLength = 100
        private let store: any AlertStore
        private var cursor: Int64
        private var page: ArraySlice<AlertEvent> = []

        init(store: any AlertStore, cursor: Int64) {
            self.store = store
            self.cursor = cursor
        }

        /// Waits for the next event; `nil` once the task is cancelled or the manager closed.
        ///
        /// - Throws: ``AlertError/inconsistent(_:_:)`` where an entry was changed,
        ///   ``AlertError/busy(_:)``, ``AlertError/incompatible(path:_:)``,
        ///   ``AlertError/storage(operation:_:)``.
        public mutating func next() async throws -> AlertEvent? {
            while page.isEmpty {
                guard !Task.isCancelled, !store.isClosed else { return nil }
                let seen = store.changeCount
                do throws(AlertError) {
                    page = try await store.events(
                        after: cursor, limit: Self.pageLength, isChecked: true)[...]
                } catch .closed {
                    // It was closed while it was being read.
                    return nil
                }
                if page.isEmpty { await store.waitForChange(after: seen) }
            }
            guard let event = page.popFirst() else { return nil }
            cursor = event.sequence
            return event
        }
    }
}
