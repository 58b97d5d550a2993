import Linux

/// What can be found out about a queue, and done with it, even if it is missing or can't be opened.
package protocol QueueAdministration: Sendable {
    /// The other process that holds the lock that every write needs, if it is visible.
    var lockHolder: LockHolder? { get }

    /// Another process whose screen leads without saying who it is, if that process is visible.
    var unknownLeader: LinuxProcess? { get async }

    /// The processes that run handlers or hooks, or wait for a response, as far as they are visible.
    var handlers: [LinuxProcess] { get }

    /// The existing files of screens, handlers and the bell that can't be used, with the reasons.
    var unusableFiles: [(path: String, error: AlertError)] { get }

    /// Whether a path leads to one of the queue's own files, or would if it existed.
    func isOwnFile(_ path: String) -> Bool

    /// Makes sure that this account may write the queue.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)``.
    func checkWriteAccess() throws(AlertError)

    /// Compares the queue's schema with the one that this version makes; nothing is written.
    ///
    /// - Returns: `nil` if there is no queue yet.
    nonisolated(nonsending) func schema() async throws(AlertError) -> SchemaReport?

    /// Measures the disk space of the queue; `nil` if it takes none here.
    nonisolated(nonsending) func space() async -> SpaceReport?

    /// Replaces the queue with a backup, once that is verified; no store in this process may have
    /// the queue open.
    ///
    /// If the process is killed at any moment, the queue is either still the old one, intact, or
    /// already the one from the backup.
    ///
    /// - Parameters:
    ///   - backup: The file of the backup.
    ///   - head: A head that must be part of the backup's log.
    ///   - force: Whether the queue may lose entries that are not in the backup, whether an
    ///     unreadable queue is replaced, and whether the backup's log may contradict alerts and
    ///     entries, which the new queue's log then names.
    ///   - caller: Who restores, for the audit log.
    ///   - progress: Called with the current step, how much of it is done, and the total.
    /// - Throws: ``AlertError/invalid(_:_:)`` if the file is not a backup, or does not verify;
    ///   ``AlertError/notPermitted(path:_:)`` with a reason that ends with
    ///   ``RestoreReport/lossReason`` if the queue would lose entries;
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``.
    nonisolated(nonsending) func restore(
        _ backup: String, expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport
}

/// A comparison of a queue's schema with the expected one.
package struct SchemaReport: Sendable {
    package let version: Int
    /// The faults for which the queue is refused, alertq's own objects first.
    package let faults: [Fault]
    /// The names of harmless additions by other programs: `the table “notes”`.
    package let additions: [String]

    package init(version: Int, faults: [Fault], additions: [String]) {
        self.version = version
        self.faults = faults
        self.additions = additions
    }

    /// An object that is missing, or must not be there in that form.
    package struct Fault: Sendable {
        package let description: String
        package let remedy: Remedy

        package init(_ description: String, remedy: Remedy) {
            self.description = description
            self.remedy = remedy
        }
    }

    package enum Remedy: Sendable {
        /// The statement that removes an object that was added.
        case removal(String)
        /// The statements that put an object back; the search index has to be rebuilt then.
        case restoration(String, ofTextIndex: Bool)
        /// Rows are gone, or may not fit.
        case backup
    }
}

/// The disk space of a queue, in bytes.
package struct SpaceReport: Sendable {
    /// What this account may still use; `nil` if it is unknown.
    package let free: Int64?
    /// Whether new alerts are refused, because little more than the reserve is free.
    package let isFull: Bool
    /// What is set aside for answers on a full disk.
    package let fullReserve: Int64
    /// What is left of that.
    package let reserve: Int64
    /// The size of the write-ahead log.
    package let log: Int64
    /// Whether the log has not been emptied for a long time.
    package let isLogLong: Bool
    /// The other processes that prevent that.
    package let readers: [LinuxProcess]

    package init(
        free: Int64?, isFull: Bool, fullReserve: Int64, reserve: Int64, log: Int64,
        isLogLong: Bool, readers: [LinuxProcess]
    ) {
        self.free = free
        self.isFull = isFull
        self.fullReserve = fullReserve
        self.reserve = reserve
        self.log = log
        self.isLogLong = isLogLong
        self.readers = readers
    }
}
