/// The events of a queue, from any process, as they happen and in the log's order.
///
/// It reads the audit log from a position, so that each event comes once, memory stays bounded, and
/// a reader can continue later after the last ``AlertEvent/cursor`` that it has seen.
public struct AlertEvents: AsyncSequence, Sendable {
    let store: any AlertStore
    let start: LogPosition

    /// Starts reading at the events' position in the log.
    public func makeAsyncIterator() -> Iterator {
        Iterator(store: store, position: start)
    }

    /// An iterator that reads events one after another.
    public struct Iterator: AsyncIteratorProtocol {
        private let store: any AlertStore
        private var position: LogPosition
        private var page: ArraySlice<AlertEvent> = []

        init(store: any AlertStore, position: LogPosition) {
            self.store = store
            self.position = position
        }

        /// Waits for the next event; returns `nil` once the task is cancelled or the manager is
        /// closed.
        ///
        /// - Throws: ``AlertError/inconsistent(_:_:)`` if an entry was changed,
        ///   ``AlertError/unknownCursor(_:end:)`` if the log no longer has the one to continue after,
        ///   ``AlertError/busy(_:)``, ``AlertError/incompatible(path:_:)``,
        ///   ``AlertError/storage(operation:_:)``.
        public mutating func next() async throws -> AlertEvent? {
            while page.isEmpty {
                guard !Task.isCancelled else { return nil }
                do throws(AlertError) {
                    let news = try await store.news(after: position, of: .everybody)
                    position = news.position
                    page = news.events[...]
                } catch .closed {
                    return nil
                }
            }
            return page.popFirst()
        }
    }
}
