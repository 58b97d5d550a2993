import AlertCore
import FoundationEssentials
import SQLite
import Synchronization

/// A queue in one SQLite file, shared by any number of processes.
package final class SQLiteAlertStore: AlertStore, LockWaiting {
    let files: QueueFiles
    let clock: any AlertClock
    /// On whose behalf the store applies deadlines.
    let caller: Caller
    let commits: GroupCommit
    let slot: SlotFile
    private let changes: ChangeSignal
    private let foreignChanges: ChangeSignal
    let slotChanges: ChangeSignal
    private let attached: AttachedEntries
    private let watch: QueueWatch
    private let bell: Bell
    private let reader: QueueConfined<Reader>
    let known: LogTail
    let lookAhead: LookAhead
    let timekeeper: Timekeeper?
    private let closing = Mutex(false)

    /// Opens the queue in a database file, which is created if it does not exist.
    ///
    /// - Parameters:
    ///   - caller: On whose behalf deadlines are applied.
    ///   - isReadOnly: Whether nothing is written, so that it can be opened where writing is
    ///     impossible.
    ///   - keepsTime: Whether it stores expiries and ends snoozes by itself.
    ///   - onTrouble: Called once with the error if they can't be stored for a longer time.
    /// - Throws: ``AlertError/incompatible(path:_:)`` for a file that is not a queue or is newer,
    ///   ``AlertError/notPermitted(path:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/storage(operation:_:)``.
    package static nonisolated(nonsending) func open(
        path: String, clock: any AlertClock = .system, caller: Caller = Caller(via: "deadline"),
        busyTime: Duration = .seconds(5), isReadOnly: Bool = false, keepsTime: Bool = false,
        onTrouble: @escaping @Sendable (AlertError) -> Void = { _ in }
    ) async throws(AlertError) -> SQLiteAlertStore {
        try QueueLocation.createUserDirectory(for: path)
        let files = try QueueFiles(database: path)
        if !isReadOnly { try WriteAccess.check(files) }
        let changes = ChangeSignal()
        let foreignChanges = ChangeSignal()
        let bell = Bell(path: files.bell, mode: files.mode)
        let (known, lookAhead) = (LogTail(), LookAhead())
        if isReadOnly, let refusal = try DatabaseFile(files: files).refusalIfBackup() {
            return SQLiteAlertStore(
                files: files, clock: clock, caller: caller,
                commits: .refusing(refusal, files: files), changes: changes,
                foreignChanges: foreignChanges, known: known, lookAhead: lookAhead, bell: bell,
                timekeeper: nil)
        }
        let commits = try await GroupCommit.start(
            files: files, clock: clock, known: known, busyTime: busyTime
        ) { concernsOthers in
            changes.change()
            guard concernsOthers else { return }
            lookAhead.forget()
            foreignChanges.change()
        } ring: {
            bell.ring()
        }
        bell.create()
        SlotFile(path: files.slot, mode: files.mode).allocate()
        let store = SQLiteAlertStore(
            files: files, clock: clock, caller: caller, commits: commits, changes: changes,
            foreignChanges: foreignChanges, known: known, lookAhead: lookAhead, bell: bell,
            timekeeper: keepsTime ? Timekeeper(clock: clock, onTrouble: onTrouble) : nil)
        store.timekeeper?.start(for: store)
        return store
    }

    /// Configures SQLite for use by this process alone, before its first use, which makes it
    /// faster.
    ///
    /// Only for our own programs: a program that uses the library may use SQLite in other ways.
    package static func disableMemoryStatistics() { Database.disableMemoryStatistics() }

    private init(
        files: QueueFiles, clock: any AlertClock, caller: Caller, commits: GroupCommit,
        changes: ChangeSignal, foreignChanges: ChangeSignal, known: LogTail, lookAhead: LookAhead,
        bell: Bell, timekeeper: Timekeeper?
    ) {
        let slotChanges = ChangeSignal()
        let attached = AttachedEntries()
        let reader = QueueConfined(
            Reader(file: DatabaseFile(files: files), known: known) { [weak commits] in
                commits?.deferWrite("open the database again") { _ in }
            }, label: "alertq.reader")
        known.whenMoved { [weak reader] in reader?.async { $0.leaveIfMoved() } }
        self.files = files
        self.clock = clock
        self.commits = commits
        self.changes = changes
        self.foreignChanges = foreignChanges
        self.bell = bell
        self.known = known
        self.lookAhead = lookAhead
        self.slotChanges = slotChanges
        self.attached = attached
        self.reader = reader
        self.caller = caller
        self.timekeeper = timekeeper
        slot = SlotFile(path: files.slot, mode: files.mode)
        watch = QueueWatch(files: files) {
            // The process's own commits have already been reported.
            guard bell.wasRungByOthers() else { return }
            changes.change()
            lookAhead.forget()
            foreignChanges.change()
        } onSlot: {
            slotChanges.change()
        } onTick: {
            attached.giveSigns()
            bell.listen()
            // A ring may have been lost: the database's own version number shows a change.
            reader.async { reader in
                guard reader.hasChanged() else { return }
                changes.change()
                lookAhead.forget()
                foreignChanges.change()
            }
            changes.nudge()
            foreignChanges.nudge()
            slotChanges.nudge()
        }
    }

    deinit {
        timekeeper?.stop()
        watch.stop()
        commits.closeSoon()
    }

    package func prepareToEnd() { commits.prepareToEnd() }

    var isClosed: Bool { closing.withLock { $0 } }

    package nonisolated(nonsending) func close() async {
        closing.withLock { $0 = true }
        timekeeper?.stop()
        watch.stop()
        // Before the writer, which then finds out whether another process has the file open.
        try? await reader.run { $0.close() }
        await commits.close()
        bell.close()
        changes.change()
        foreignChanges.change()
        slotChanges.change()
    }

    /// Reads from the database, in one short transaction.
    nonisolated(nonsending) func read<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(AlertError) -> Result {
        guard !isClosed else { throw .closed }
        return try await reader.run { reader throws(AlertError) in
            try storing(operation) { try reader.read(body) }
        }
    }

    /// Creates another connection, for callers that read much at a time.
    func makeReader() -> Reader { Reader(file: DatabaseFile(files: files), known: known) }

    package var position: LogPosition {
        // In this order: changes in between are examined once more.
        let changes = seenChanges
        return LogPosition(sequence: known.head.sequence, changes: changes)
    }

    private var seenChanges: LogPosition.Changes {
        LogPosition.Changes(all: changes.count, byOthers: foreignChanges.count)
    }

    package nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News {
        guard !isClosed else { throw .closed }
        let signal = scope == .others ? foreignChanges : changes
        if !startWatching(), let count = position.changes?[scope] {
            await signal.wait(after: count)
        }
        guard !isClosed else { throw .closed }
        let seen = seenChanges
        // The process's own entries need not be read.
        let start =
            scope == .others
            ? known.endOfOwn(after: position.sequence) : position.sequence
        let limit = 256
        let events = try await events(
            after: start, limit: limit, isChecked: scope == .everybody)
        // After a full page there may be more, which should be read at once.
        let isFull = events.count == limit
        return News(
            events: events,
            position: LogPosition(
                sequence: events.last?.sequence ?? start, changes: isFull ? nil : seen),
            hasChanged: seen[scope] != position.changes?[scope])
    }

    /// A number that grows with each change that this process has noticed.
    package var changeCount: UInt64 { changes.count }

    /// Waits until ``changeCount`` differs from a number, or a second has passed.
    package nonisolated(nonsending) func waitForChange(after count: UInt64) async {
        guard !startWatching() else { return }
        await changes.wait(after: count)
    }

    /// Begins to watch for changes by other processes; `true` the first time, because earlier
    /// changes must be examined once more.
    private func startWatching() -> Bool {
        bell.listen()
        return watch.start()
    }

    package nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease {
        guard !isClosed else { throw .closed }
        return try SlotLease(of: screen, in: self)
    }

    package nonisolated(nonsending) func screens() async -> ScreenRoster { slot.roster() }

    /// Records an attached screen, which must give signs of life.
    func noteAttached(_ entry: SlotEntry) {
        attached.add(entry)
        // Its tick gives the signs of life.
        watch.start()
    }

    package nonisolated(nonsending) func takeHandlerTurn(
        _ id: Alert.ID
    ) async throws(AlertError) -> (any HandlerTurn)? {
        guard !isClosed else { throw .closed }
        return try HandlerTurns(path: files.handlers, mode: files.mode).take(id)
    }
}
