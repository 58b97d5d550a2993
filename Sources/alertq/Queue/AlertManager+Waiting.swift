import AlertQueue

extension AlertManager {
    /// Calls a function for each alert that waits, in no particular order and in bounded memory; an
    /// alert may come twice, or be missed, if the order changes meanwhile.
    func forEachWaiting(
        source: String? = nil, _ body: (AlertRecord) -> Void
    ) async throws(AlertError) {
        let pageLength = 1000
        var page: [AlertRecord] = []
        repeat {
            page = try await pending(source: source, after: page.last?.id, limit: pageLength)
            page.forEach(body)
        } while page.count == pageLength
    }
}
