import FoundationEssentials
import SQLite
import Synchronization

/// The queue in one SQLite file, shared by any number of processes.
package final class SQLiteAlertStore: AlertStore {
    let files: QueueFiles
    let clock: any AlertClock
    /// On whose behalf it applies deadlines.
    let caller: Caller
    let commits: GroupCommit
    let slot: PresentationSlot
    private let changes: ChangeSignal
    private let news: ChangeSignal
    private let known: KnownHead
    private let slotChanges: ChangeSignal
    private let lastHold: LastHold
    private let watch: QueueWatch
    private let bell: Bell
    private let reader: QueueConfined<Reader>
    private let closing = Mutex(false)

    /// Opens the queue in a database file, which is created if it does not exist.
    ///
    /// - Parameters:
    ///   - caller: On whose behalf deadlines are applied.
    ///   - isReadOnly: Whether nothing is to be written, so that it is opened where nothing can be.
    /// - Throws: ``AlertError/incompatible(path:_:)`` for a file that is not ours or is newer,
    ///   ``AlertError/notPermitted(path:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/storage(operation:_:)``.
    package static nonisolated(nonsending) func open(
        path: String, clock: any AlertClock = .system, caller: Caller = Caller(via: "deadline"),
        busyTime: Duration = .seconds(5), isReadOnly: Bool = false
    ) async throws(AlertError) -> SQLiteAlertStore {
        try QueueLocation.createUserDirectory(for: path)
        let files = try QueueFiles(database: path)
        if !isReadOnly { try WriteAccess.check(files) }
        let changes = ChangeSignal()
        let news = ChangeSignal()
        let bell = Bell(path: files.bell, mode: files.mode)
        let known = KnownHead()
        let commits = try await GroupCommit.start(
            files: files, clock: clock, known: known, busyTime: busyTime
        ) { isNews in
            changes.change()
            if isNews { news.change() }
        } ring: {
            bell.ring()
        }
        bell.hang()
        PresentationSlot(path: files.slot, mode: files.mode).setRoomAside()
        return SQLiteAlertStore(
            files: files, clock: clock, caller: caller, commits: commits, changes: changes,
            news: news, known: known, bell: bell)
    }

    /// Takes SQLite for this process alone, before its first use, which makes it faster.
    ///
    /// For programs of our own: a program that uses the library may use SQLite in other ways.
    package static func haveProcess() { Database.keepNoAccount() }

    private init(
        files: QueueFiles, clock: any AlertClock, caller: Caller, commits: GroupCommit,
        changes: ChangeSignal, news: ChangeSignal, known: KnownHead, bell: Bell
    ) {
        let slotChanges = ChangeSignal()
        let lastHold = LastHold()
        let reader = QueueConfined(
            Reader(file: DatabaseFile(files: files), known: known) { [weak commits] in
                commits?.ride("open the database again") { _ in }
            }, label: "alertq.reader")
        known.whenMoved { [weak reader] in reader?.async { $0.leaveIfMoved() } }
        self.files = files
        self.clock = clock
        self.commits = commits
        self.changes = changes
        self.news = news
        self.bell = bell
        self.known = known
        self.slotChanges = slotChanges
        self.lastHold = lastHold
        self.reader = reader
        self.caller = caller
        slot = PresentationSlot(path: files.slot, mode: files.mode)
        watch = QueueWatch(files: files) {
            // What this process has committed itself has been told already.
            guard bell.wasRungByOthers() else { return }
            changes.change()
            news.change()
        } onSlot: {
            slotChanges.change()
        } onTick: {
            lastHold.giveSign()
            bell.listen()
            // A ring may have been swallowed: the database's own version number tells.
            reader.async { reader in
                guard reader.hasChanged() else { return }
                changes.change()
                news.change()
            }
            changes.nudge()
            news.nudge()
            slotChanges.nudge()
        }
    }

    deinit {
        watch.stop()
        commits.closeSoon()
    }

    package func hurry() { commits.hurry() }

    package var isClosed: Bool { closing.withLock { $0 } }

    package nonisolated(nonsending) func close() async {
        closing.withLock { $0 = true }
        watch.stop()
        // Before the writer, which then finds out whether anybody else has the file open.
        try? await reader.run { $0.close() }
        await commits.close()
        bell.close()
        changes.change()
        news.change()
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

    /// Another connection, for whoever reads much at a time.
    func makeReader() -> Reader { Reader(file: DatabaseFile(files: files), known: known) }

    package var knownSequence: Int64 { known.head.sequence }

    package var changeCount: UInt64 { changes.count }

    package nonisolated(nonsending) func waitForChange(after count: UInt64) async {
        guard !startWatching() else { return }
        await changes.wait(after: count)
    }

    package var newsCount: UInt64 { news.count }

    package nonisolated(nonsending) func waitForNews(after count: UInt64) async {
        guard !startWatching() else { return }
        await news.wait(after: count)
    }

    /// Begins to hear what other processes do; the first time there may be something that came
    /// before, which has to be looked at once more.
    private func startWatching() -> Bool {
        bell.listen()
        return watch.start()
    }

    package func isQuiet(since sequence: Int64) -> Bool { known.isQuiet(since: sequence) }

    package func endOfQuiet(after sequence: Int64) -> Int64 { known.endOfQuiet(after: sequence) }

    package func takeSlot(_ holder: SlotHolder) throws(AlertError) -> (any SlotLease)? {
        guard let hold = try slot.take(holder) else { return nil }
        lastHold.set(hold)
        // Its tick is the pulse of whoever holds the slot.
        watch.start()
        return hold
    }

    package func slotHolder() -> SlotHolder? { slot.holder() }

    package nonisolated(nonsending) func waitForSlot() async {
        watch.start()
        let seen = slotChanges.count
        guard slot.isHeld() else {
            // It is free and could not be taken all the same: not to be tried in a spin.
            try? await Task.sleep(for: .milliseconds(100))
            return
        }
        await slotChanges.wait(after: seen)
        // The close may be heard before the lock is free.
        for milliseconds in [1, 2, 4, 8, 16] where slot.isHeld() {
            // A cancelled wait is over; the caller looks at its task itself.
            try? await Task.sleep(for: .milliseconds(milliseconds))
        }
    }

    package func takeHandlerTurn(_ id: Alert.ID) throws(AlertError) -> (any HandlerTurn)? {
        try HandlerTurns(path: files.handlers, mode: files.mode).take(id)
    }
}

/// The connection that reads, opened at the first read and again when the file was replaced.
struct Reader {
    let file: DatabaseFile
    private let known: KnownHead
    private var database: OpenDatabase?
    private var lastVersion: Int64?
    private var isClosed = false
    private let whenMoved: @Sendable () -> Void

    init(
        file: DatabaseFile, known: KnownHead, whenMoved: @escaping @Sendable () -> Void = {}
    ) {
        self.file = file
        self.known = known
        self.whenMoved = whenMoved
    }

    mutating func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let database = try current()
        return try database.handle.reading {
            try database.schema.run()
            known.raise(to: try database.handle.lastHead())
            return try body(database.handle)
        }
    }

    /// Whether any process has committed since the last call; see
    /// <https://sqlite.org/pragma.html#pragma_data_version>.
    mutating func hasChanged() -> Bool {
        // A file that can't be read now is looked at again a second later.
        guard let handle = try? current().handle,
            let version = try? handle.first("PRAGMA data_version", read: { $0.integer(0) })
        else { return true }
        defer { lastVersion = version }
        return lastVersion != nil && version != lastVersion
    }

    mutating func close() {
        isClosed = true
        database = nil
    }

    /// Lets go of files that are no longer the queue's, for the writer's sake.
    mutating func leaveIfMoved() {
        if database?.isInPlace == false { database = nil }
    }

    private mutating func current() throws(AlertError) -> OpenDatabase {
        guard !isClosed else { throw .closed }
        if let database {
            if database.isInPlace { return database }
            self.database = nil
            // The writer uses the same files, and may have nothing to write for long.
            whenMoved()
        }
        let opened = try file.openExisting(continuing: known.head, isReadOnly: true)
        try file.syncLog()
        database = opened
        return opened
    }
}
