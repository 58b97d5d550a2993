/// A reader's position in a queue.
package struct LogPosition: Sendable, Hashable, Codable {
    /// The last entry of the audit log that has been seen.
    package var head: AuditHead
    /// The changes that the store had noticed by then, in its own terms. One that it doesn't know,
    /// because it is missing or was made by a store that has since been opened again, means that
    /// something may have changed.
    package var mark: UInt64?

    package init(_ head: AuditHead, mark: UInt64? = nil) {
        self.head = head
        self.mark = mark
    }
}
