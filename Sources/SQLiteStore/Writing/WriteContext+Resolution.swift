import AlertCore
import SQLite

// The rules of a resolution, with what only the log contains: who has requested a cancel.
extension WriteContext {
    /// Who is recorded as having ended an alert.
    ///
    /// - Throws: ``AlertError/notYours(_:owner:)``.
    func resolver(
        of record: AlertRecord, _ authority: Resolution.Authority, owner: ResolvedBy,
        by caller: Caller
    ) throws -> ResolvedBy {
        let request = authority.isRequested ? try db.cancelRequest(of: record.id) : nil
        return try authority.resolver(of: record, owner: owner, by: caller, request)
    }

    /// On whose behalf an alert is ended.
    func actor(for resolution: Resolution, of id: Alert.ID, by caller: Caller) throws -> Caller {
        resolution.actor(by: caller, try request(for: resolution, of: id))
    }

    /// The response that a resolution gives a waiting alert.
    func response(
        to record: AlertRecord, _ resolution: Resolution, by caller: Caller
    ) throws -> Response {
        try resolution.response(
            to: record, at: now, by: caller, try request(for: resolution, of: record.id))
    }

    private func request(
        for resolution: Resolution, of id: Alert.ID
    ) throws -> CancelRequest? {
        resolution.isRequested ? try db.cancelRequest(of: id) : nil
    }
}
