import AlertQueueTesting
import Glibc
import SQLite
import Testing

@testable import AlertQueue

extension TemporaryQueue {
    /// Opens the queue without a manager.
    func store(
        clock: any AlertClock = .system, busyTime: Duration = .seconds(5)
    ) async throws -> SQLiteAlertStore {
        try await SQLiteAlertStore.open(path: path, clock: clock, busyTime: busyTime)
    }

    /// A connection as any other program may have one, without the store's files and rules.
    func connection() throws -> Database {
        try Database(path: path)
    }

    /// Changes rows as a forger with write access does, past triggers and foreign keys.
    func forge(_ script: String) throws {
        let db = try connection()
        db.setTriggers(areOn: false)
        db.setDefensive(false)
        try db.execute("PRAGMA foreign_keys = OFF")
        try db.execute(script)
    }

    func integer(_ sql: String, _ values: Value...) throws -> Int64? {
        try connection().rows(sql, values) { $0.integer(0) }.first
    }
}

extension SQLiteAlertStore {
    /// Asks with the identity of this process.
    @discardableResult
    func ask(_ alert: Alert, source: String = "test", limit: Int = 10_000) async throws
        -> AlertRecord
    {
        try await enqueue(
            Question(alert: alert, source: source, pendingLimit: limit), by: Caller(via: "test")
        ).record
    }

    @discardableResult
    func answer(_ id: Alert.ID, _ button: Int, by caller: Caller = .ana) async throws
        -> AlertRecord
    {
        try await resolve(id, .choose(button: button), by: caller)
    }
}

extension Caller {
    /// Whoever applies deadlines.
    static let keeper = Caller(via: "deadline")
    /// A person at a terminal, of the account that asks in these tests.
    static let ana = Caller(
        Identity(
            uid: geteuid(), user: "ana", loginUID: 1001, session: 7, tty: "/dev/pts/3",
            ssh: "192.0.2.7", host: "desk", pid: 4711), via: "terminal")
    /// Somebody else at the same account.
    static let ben = Caller(
        Identity(
            uid: geteuid(), user: "ben", loginUID: nil, session: nil, tty: nil, ssh: nil,
            host: "desk", pid: 4712), via: "answer")
}

extension Caller {
    /// Somebody of another account, which is not root.
    static let eve = Caller(
        Identity(
            uid: geteuid() + 1003, user: "eve", loginUID: nil, session: nil, tty: nil, ssh: nil,
            host: "desk", pid: 4713), via: "answer")
}

extension Alert {
    /// A question with the buttons Yes and No.
    static func yesNo(
        _ title: String = "Go on?", priority: Priority = .normal, deadline: Deadline? = nil,
        key: String? = nil
    ) -> Alert {
        Alert(
            title, buttons: ["Yes", .cancel("No")], priority: priority, deadline: deadline, key: key
        )
    }
}

/// The error that a call throws, or `nil`.
func thrown(_ body: () async throws -> some Any) async -> AlertError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? AlertError
    }
}

extension AlertError {
    /// The case's name, for tables.
    var kind: String {
        Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
}
