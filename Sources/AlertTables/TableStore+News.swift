import AlertCore

/// What a process knows of the end of its queue's log.
package protocol KnownLog: Sendable {
    /// The newest entry that it knows.
    var head: AuditHead { get }

    /// The newest entry, if all of those after another one are known as the process's own and as no
    /// news for other parts of it; else that other one.
    func endOfOwn(after head: AuditHead) -> AuditHead

    /// Whether an entry is known as such.
    func isOwn(_ entry: AuditHead) -> Bool

    /// Notes why nothing more can be done with the queue; the first reason stays.
    func fail(_ error: AlertError)
}

extension TableStore {
    package var position: LogPosition {
        // In this order: changes in between are examined once more.
        let mark = changes.mark
        return LogPosition(known.head, mark: mark)
    }

    package nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News {
        guard !isClosed else { throw .closed }
        if !startWatching() { await changes.wait(after: position.mark, of: scope) }
        guard !isClosed else { throw .closed }
        let mark = changes.mark
        let hasChanged = changes.hasChanged(since: position.mark, in: scope)
        // The process's own entries need not be read.
        let start = scope == .others ? known.endOfOwn(after: position.head) : position.head
        let limit = 256
        let entries = try await read("read the audit log") { tables in
            try tables.checkedCursor(position.head)
            let entries = try tables.entries(after: start.sequence, of: nil, limit: limit)
            if scope == .everybody { try entries.checkChain(after: start) }
            return entries
        }
        if refusal == nil, entries.contains(where: { $0.event.kind == .moved }) {
            try await checkMove()
        }
        // After a full page there may be more, which should be read at once.
        let isFull = entries.count == limit
        var news = News(
            events: entries.filter { scope == .everybody || !known.isOwn($0.event.cursor) }
                .map { shown($0).event },
            position: LogPosition(entries.last?.event.cursor ?? start, mark: isFull ? nil : mark),
            hasChanged: hasChanged)
        news.cannotExpire = timekeeper?.trouble ?? refusal
        return news
    }

    /// Ends everything that this process does with the queue if it goes on elsewhere: if that is
    /// what the last entry of its log says.
    private nonisolated(nonsending) func checkMove() async throws(AlertError) {
        let end = try await read("read the audit log") { try $0.logEnd() }
        guard let move = end.move else { return }
        let error = AlertError.moved(place, to: move.place)
        known.fail(error)
        throw error
    }
}

extension [AuditEntry] {
    /// Makes sure that these entries follow one that is known, and that none of them was changed.
    fileprivate func checkChain(after head: AuditHead) throws {
        var last = head
        for entry in self {
            try entry.checkHash()
            try entry.checkLink(after: last)
            last = entry.event.cursor
        }
    }
}
