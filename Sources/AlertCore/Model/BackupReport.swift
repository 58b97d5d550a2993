/// A completed backup.
public struct BackupReport: Sendable, Hashable, Codable {
    /// The absolute path of the backup file.
    public let path: String
    /// Its size in bytes.
    public let size: Int64
    /// The end of the backup's audit log; `nil` for a queue in which nothing has happened yet.
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
