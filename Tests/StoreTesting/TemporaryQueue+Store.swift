import AlertCore
import SQLite
import SQLiteStore

extension TemporaryQueue {
    /// Opens the queue without a manager.
    package func store(
        clock: any AlertClock = .system, busyTime: Duration = .seconds(5)
    ) async throws -> SQLiteAlertStore {
        try await SQLiteAlertStore.open(path: path, clock: clock, busyTime: busyTime)
    }

    /// Opens the queue with a manager, which applies deadlines.
    package func manager(
        clock: any AlertClock = .system, busyTime: Duration = .seconds(5),
        caller: Caller = Caller(via: "library")
    ) async throws -> AlertManager {
        try await AlertManager(
            store: SQLiteAlertStore.open(
                path: path, clock: clock, caller: caller, busyTime: busyTime, appliesDeadlines: true
            ),
            path: path, source: "test", caller: caller, presenters: [], delegate: nil,
            clock: clock)
    }

    /// A connection such as any other program may have, without the store's files and rules.
    package func connection() throws -> Database {
        try Database(path: path)
    }

    /// Changes rows as a forger with write access would, bypassing triggers, checks and foreign
    /// keys.
    package func forge(_ script: String) throws {
        let db = try connection()
        db.setTriggers(areOn: false)
        db.setDefensive(false)
        try db.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
        try db.execute(script)
    }

    package func integer(_ sql: String, _ values: Value...) throws -> Int64? {
        try connection().rows(sql, values) { $0.integer() }.first
    }
}

extension SQLiteAlertStore {
    /// Stores what is due, and returns an alert's record then.
    @discardableResult
    package nonisolated(nonsending) func expire(
        _ id: Alert.ID
    ) async throws(AlertError) -> AlertRecord {
        _ = try await applyDeadlines()
        return try await record(id)
    }
}
