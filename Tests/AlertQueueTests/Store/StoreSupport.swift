import AlertQueueTesting
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
            Question(
                alert: alert, source: source, identity: identity, via: "test", pendingLimit: limit)
        ).record
    }

    @discardableResult
    func answer(_ id: Alert.ID, _ button: Int, by responder: Responder = .ana) async throws
        -> AlertRecord
    {
        try await resolve(id, .choose(button: button, responder))
    }
}

extension Responder {
    /// A person at a terminal.
    static let ana = Responder(
        uid: 1001, user: "ana", via: "terminal", tty: "/dev/pts/3", ssh: "192.0.2.7",
        host: "desk", pid: 4711)
    static let ben = Responder(uid: 1002, user: "ben", via: "answer", host: "desk", pid: 4712)
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
