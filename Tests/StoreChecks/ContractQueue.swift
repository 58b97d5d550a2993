import AlertCore
import AlertQueueTesting
import Synchronization

/// A queue that a check of the contract opens once for each process that it needs.
package final class ContractQueue: Sendable {
    /// The clock of all stores that are not given another one.
    package let clock = ManualClock()
    private let opening: @Sendable (any AlertClock) async throws -> any AlertStore
    private let opened = Mutex<[any AlertStore]>([])

    /// - Parameter opening: Opens the queue once more, with a clock, on behalf of ``keeper``.
    package init(
        _ opening: @escaping @Sendable (any AlertClock) async throws -> any AlertStore
    ) {
        self.opening = opening
    }

    /// The caller on whose behalf the stores apply deadlines.
    package static let keeper = Caller(
        Account(uid: 1000, name: "ana"), via: "keeper",
        process: ProcessIdentity(host: "desk", pid: 99))

    /// Opens the queue once more, as another process would.
    package func open(_ clock: (any AlertClock)? = nil) async throws -> any AlertStore {
        let store = try await opening(clock ?? self.clock)
        opened.withLock { $0.append(store) }
        return store
    }

    /// Closes all stores that are open.
    package func close() async {
        for store in opened.withLock({ $0 }) { await store.close() }
    }
}

// The callers in the checks.
extension Caller {
    /// A person at a terminal, of the account that asks.
    static let ana = Caller(
        Account(uid: 1000, name: "ana"), loginUID: 1001, session: 7, via: "terminal",
        tty: "/dev/pts/3", ssh: "192.0.2.7", process: ProcessIdentity(host: "desk", pid: 4711))
    /// Another user of the same account.
    static let ben = Caller(
        Account(uid: 1000, name: "ben"), via: "answer",
        process: ProcessIdentity(host: "desk", pid: 4712))
    /// A user of another account.
    static let eve = Caller(
        Account(uid: 2003, name: "eve"), via: "answer",
        process: ProcessIdentity(host: "desk", pid: 4713))
    static let root = Caller(
        Account(uid: 0, name: "root"), via: "answer",
        process: ProcessIdentity(host: "desk", pid: 4714))

    /// A person without an account, and what speaks for them.
    static func boss(_ means: Means = .device("phone")) -> Caller {
        Caller(.person("boss"), via: "inbox", means: means)
    }

    /// A user of an account.
    static func account(_ uid: UInt32) -> Caller {
        var caller = Caller.ben
        caller.principal = .account(Account(uid: uid, name: "ben"))
        return caller
    }
}

extension Alert {
    /// A question with the buttons Yes and No.
    static func yesNo(
        _ title: String = "Go on?", priority: Priority = .normal, deadline: Deadline? = nil,
        key: String? = nil
    ) -> Alert {
        Alert(
            title, buttons: ["Yes", .cancel("No")], priority: priority, deadline: deadline,
            key: key)
    }
}

extension AlertStore {
    /// Snoozes an alert for a duration; `nil` means the alert's own snooze time.
    package nonisolated(nonsending) func snooze(
        _ id: Alert.ID, for duration: Duration?, by caller: Caller
    ) async throws(AlertError) -> AlertRecord {
        try await snooze(id, until: duration.map(Alert.Deadline.after), by: caller)
    }

    /// Waits until the expiry of an overdue alert is stored, and returns its record.
    @discardableResult
    func expired(_ id: Alert.ID) async throws -> AlertRecord {
        try await expectSoon("the expiry of alert \(id) is stored") {
            try await !find(.id(id)).isOverdue
        }
        return try await record(id)
    }

    @discardableResult
    nonisolated(nonsending) func ask(
        _ alert: Alert = .yesNo(), source: String = "test", limit: Int = 10_000,
        principalLimit: Int = 100_000, by caller: Caller = .ben
    ) async throws(AlertError) -> Receipt {
        try await enqueue(
            Question(
                alert: alert, source: source, pendingLimit: limit, principalLimit: principalLimit),
            by: caller)
    }

    @discardableResult
    nonisolated(nonsending) func answer(
        _ id: Alert.ID, _ button: Int = 0, by caller: Caller = .ana
    ) async throws(AlertError) -> AlertRecord {
        try await resolve(id, .choose(button: button), by: caller)
    }

    /// The id of the alert that some presenters show next.
    nonisolated(nonsending) func nextID(
        _ presenters: String...
    ) async throws(AlertError) -> Alert.ID? {
        try await next(ScreenQuery(for: presenters)).record?.id
    }

    /// Shows the next alert, and resolves it.
    nonisolated(nonsending) func showNext(
        prefersQuestions: Bool = false
    ) async throws(AlertError) -> AlertRecord? {
        let query = ScreenQuery(for: ["x"], prefersQuestions: prefersQuestions)
        guard let record = try await next(query).record else { return nil }
        post(.presented(record), by: .ana)
        return try await resolve(
            record.id, record.alert.buttons.isEmpty ? .dismiss : .choose(button: 0), by: .ana)
    }

    /// The kinds of the log's entries.
    nonisolated(nonsending) func kinds(
        of id: Alert.ID? = nil
    ) async throws(AlertError) -> [AlertEvent.Kind] {
        try await entries(of: id, limit: 10_000).map(\.event.kind)
    }

    /// Makes sure that the log and the records agree.
    nonisolated(nonsending) func expectSound() async throws {
        let report = try await verify(expecting: try await auditHead())
        try expectEqual(report.problems.map(\.reason), [], "problems of the log")
    }
}
