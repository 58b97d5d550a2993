import AlertCore
import AlertTables
import FoundationEssentials
import SQLite
import Synchronization

/// A queue in one SQLite file, shared by any number of processes.
package final class SQLiteAlertStore: AlertStore, LockWaiting {
    let files: QueueFiles
    let clock: any AlertClock
    /// On whose behalf the store applies deadlines.
    let caller: Caller
    private let commits: GroupCommit
    var writes: WriteQueue { commits.writes }
    let slot: SlotFile
    package let changes: NoticedChanges
    let slotChanges = ChangeSignal()
    let waits: WaitingLeases
    let leases = SlotLeases()
    let overdueStart = OverdueStart()
    private let watch: QueueWatch
    private let bell: Bell
    private let reader: QueueConfined<Reader>
    package let known: LogTail
    let lookAhead: LookAhead
    package let timekeeper: Timekeeper?
    /// Why nothing can be written through this store; `nil` for one that was opened for writing.
    package let refusal: AlertError?
    /// What is read where the files can't be; `nil` unless the store was opened for reading.
    let copy: ReadingCopy?
    private let closing = Mutex(false)

    /// Opens the queue in a database file for writing; the file is created if it does not exist.
    ///
    /// - Parameters:
    ///   - caller: On whose behalf deadlines are applied.
    ///   - appliesDeadlines: Whether it stores expiries and ends snoozes by itself.
    ///   - isShared: Whether several programs use it, so that its own changes are news for others.
    ///   - onTrouble: Called if they can't be stored for a longer time, and if entries of
    ///     the log had to be dropped.
    /// - Throws: ``AlertError/incompatible(path:_:)`` for a file that is not a queue or is newer,
    ///   ``AlertError/notPermitted(path:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/storage(operation:_:)``.
    package static nonisolated(nonsending) func open(
        path: String, clock: any AlertClock = .system, caller: Caller = Caller(via: "deadline"),
        busyTime: Duration = .seconds(5), appliesDeadlines: Bool = false,
        isShared: Bool = false,
        onTrouble: @escaping @Sendable (BackgroundError) -> Void = { _ in }
    ) async throws(AlertError) -> SQLiteAlertStore {
        let files = try QueueFiles(database: path)
        try files.checkWriteAccess()
        let (lookAhead, known) = (LookAhead(), LogTail(isShared: isShared))
        let changes = NoticedChanges { lookAhead.forget() }
        let bell = Bell(path: files.bell, mode: files.mode)
        let commits = GroupCommit(
            files: files, busyTime: busyTime, onTrouble: { onTrouble(.entriesLost($0)) },
            onCommit: { changes.note($0) }, ring: { bell.ring() })
        try await commits.start(clock: clock, known: known)
        bell.create()
        SlotFile(path: files.slot, mode: files.mode).allocate()
        let store = SQLiteAlertStore(
            files: files, clock: clock, caller: caller, commits: commits, changes: changes,
            lookAhead: lookAhead,
            known: known, bell: bell,
            timekeeper: appliesDeadlines
                ? Timekeeper(clock: clock) { onTrouble(.deadlines($0)) } : nil)
        store.timekeeper?.start { [weak store] () async throws(AlertError) in
            try await store?.applyDeadlines()
        }
        return store
    }

    /// Opens the queue or the backup in a database file for reading: neither the file nor its log
    /// changes, and no file appears next to it but SQLite's shared memory.
    ///
    /// Every change is refused, and nothing that is due is stored.
    ///
    /// - Parameters:
    ///   - caller: Who reads.
    ///   - onCopy: Called before a copy of the queue is made and read, because it can't be read in
    ///     place.
    /// - Throws: ``AlertError/incompatible(path:_:)`` for a file that is not a queue of this
    ///   version, ``AlertError/notPermitted(path:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/storage(operation:_:)``.
    package static nonisolated(nonsending) func openForReading(
        path: String, clock: any AlertClock = .system, caller: Caller = Caller(via: "reading"),
        onCopy: @escaping @Sendable () -> Void = {}
    ) async throws(AlertError) -> SQLiteAlertStore {
        let files = try QueueFiles(database: path)
        let refusal =
            try DatabaseFile(files: files).refusalIfBackup()
            ?? .openedForReading(files.database)
        let bell = Bell(path: files.bell, mode: files.mode)
        // Neither rings nor makes others ring, for which they would need a lock on its file.
        bell.close()
        let commits = GroupCommit(files: files)
        commits.refuse(with: refusal)
        let store = SQLiteAlertStore(
            files: files, clock: clock, caller: caller, commits: commits,
            changes: NoticedChanges(), lookAhead: LookAhead(), known: LogTail(), bell: bell,
            refusal: refusal,
            copy: ReadingCopy(onCopy: onCopy))
        // Reports what is wrong with the file now, as opening for writing does.
        try await store.read("open \(files.database)") { _ in }
        return store
    }

    /// Configures SQLite for use by this process alone, before its first use, which makes it
    /// faster.
    ///
    /// Only for our own programs: a program that uses the library may use SQLite in other ways.
    package static func disableMemoryStatistics() { Database.disableMemoryStatistics() }

    private init(
        files: QueueFiles, clock: any AlertClock, caller: Caller, commits: GroupCommit,
        changes: NoticedChanges, lookAhead: LookAhead, known: LogTail, bell: Bell,
        timekeeper: Timekeeper? = nil,
        refusal: AlertError? = nil, copy: ReadingCopy? = nil
    ) {
        let reader = QueueConfined(
            Reader(file: DatabaseFile(files: files), known: known, copy: copy) {
                [weak commits] in
                commits?.writes.post("open the database again") { _ in }
            }, label: "alertq.reader")
        known.whenMoved { [weak reader] in Task { try? await reader?.run { $0.leaveIfMoved() } } }
        self.files = files
        self.clock = clock
        self.commits = commits
        self.changes = changes
        self.lookAhead = lookAhead
        self.bell = bell
        self.known = known
        self.reader = reader
        self.caller = caller
        self.timekeeper = timekeeper
        self.refusal = refusal
        self.copy = copy
        slot = SlotFile(path: files.slot, mode: files.mode)
        let waits = WaitingLeases(files: files)
        self.waits = waits
        watch = QueueWatch(files: files) {
            // The process's own commits have already been reported.
            if bell.wasRungByOthers() { changes.note() }
        } onSlot: { [slotChanges] in
            slotChanges.change()
        } onTick: { [leases, slotChanges] in
            leases.giveSigns()
            waits.renew()
            bell.listen()
            // A ring may have been lost: the database's own version number shows a change.
            Task { if (try? await reader.run { $0.takeChange() }) != false { changes.note() } }
            changes.nudge()
            slotChanges.nudge()
        }
    }

    deinit {
        timekeeper?.stop()
        watch.stop()
        commits.closeSoon()
    }

    package var lockHolder: LockHolder? { files.lockHolder }

    package func prepareToEnd() { commits.prepareToEnd() }

    package var isClosed: Bool { closing.withLock { $0 } }

    package var place: String { files.database }

    package nonisolated(nonsending) func close() async {
        closing.withLock { $0 = true }
        timekeeper?.stop()
        watch.stop()
        waits.close()
        // Before the writer, which then finds out whether another process has the file open.
        try? await reader.run { $0.close() }
        copy?.remove()
        await commits.close()
        bell.close()
        changes.note()
        slotChanges.change()
    }

    /// Reads from the database, in one transaction.
    package nonisolated(nonsending) func read<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(AlertError) -> Result {
        try await read(operation, on: reader, body)
    }

    /// Reads on a connection of its own, so that others don't wait for what takes long.
    package nonisolated(nonsending) func readAside<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(AlertError) -> Result {
        try await read(operation, on: QueueConfined(makeReader(), label: "alertq.aside"), body)
    }

    private nonisolated(nonsending) func read<Result: Sendable>(
        _ operation: String, on reader: QueueConfined<Reader>,
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(AlertError) -> Result {
        guard !isClosed else { throw .closed }
        return try await reader.run { reader throws(AlertError) in
            try performing(operation) { try reader.read(body) }
        }
    }

    /// Creates another connection, for callers that read much at a time.
    func makeReader() -> Reader {
        Reader(file: DatabaseFile(files: files), known: known, copy: copy)
    }

    /// Begins to watch for changes by other processes; `true` the first time, because earlier
    /// changes must be examined once more.
    package func startWatching() -> Bool {
        bell.listen()
        return watch.start()
    }

    package nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease {
        guard !isClosed else { throw .closed }
        if let refusal { throw refusal }
        let lease = try SlotLease(of: screen, in: slot, changes: slotChanges)
        leases.add(lease)
        // Its tick gives the signs of life.
        watch.start()
        return lease
    }

    package nonisolated(nonsending) func screens() async -> ScreenRoster {
        await slot.settledRoster()
    }

    package nonisolated(nonsending) func lease(
        _ id: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> (any AlertLease)? {
        guard !isClosed else { throw .closed }
        if let refusal { throw refusal }
        return switch purpose {
        case .handling: try HeldLease(of: id, in: files)
        case .waiting: try waits.lease(id)
        }
    }
}
