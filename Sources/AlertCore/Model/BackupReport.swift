/// A backup that is on the disk.
public struct BackupReport: Sendable, Hashable {
    /// The file that was made, by its whole path.
    public let path: String
    /// How big it is, in bytes.
    public let size: Int64
    /// The end of the audit log in it; `nil` for a queue in which nothing has happened yet.
    public let head: AuditHead?
    /// The older backups that were removed afterwards.
    public let removed: [String]

    package init(path: String, size: Int64, head: AuditHead?, removed: [String]) {
        self.path = path
        self.size = size
        self.head = head
        self.removed = removed
    }
}
