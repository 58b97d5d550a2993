import AlertQueue

/// The audit log, read as it grows.
struct GrowingLog {
    let manager: AlertManager
    /// The alert whose entries are read; `nil` for all.
    var alert: Alert.ID?
    /// The entry after which it goes on.
    private var last: AuditHead
    private var retry = DiskRetry()

    init(_ manager: AlertManager, of alert: Alert.ID? = nil, after start: AuditHead) {
        self.manager = manager
        self.alert = alert
        last = start
    }

    /// The next entries, or none if a second passes without any; each is still to be passed.
    ///
    /// - Throws: ``AlertError``, once the disk has failed for too long.
    mutating func next() async throws -> [AuditEntry] {
        while true {
            do throws(AlertError) {
                let page = try await manager.nextAudit(after: last, of: alert, limit: 100)
                retry.succeed()
                return page
            } catch {
                try await retry.pause(after: error)
            }
        }
    }

    /// Goes on after an entry, and returns its head.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the chain doesn't hold.
    mutating func pass(_ entry: AuditEntry) throws -> AuditHead {
        try entry.checkHash()
        if alert == nil { try entry.checkLink(after: last) }
        last = entry.event.cursor
        return last
    }
}
