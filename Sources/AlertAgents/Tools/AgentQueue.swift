import AlertQueue
import Synchronization

/// The queue behind a server, which is opened by the first call that needs it.
///
/// A server runs for days. If the queue can't be opened, or its file is replaced, the next call
/// opens it anew.
actor AgentQueue {
    private let open: @Sendable (_ source: String?) async throws -> AlertManager
    private var opening: Task<AlertManager, any Error>?

    init(open: @escaping @Sendable (_ source: String?) async throws -> AlertManager) {
        self.open = open
    }

    /// The manager of the queue.
    func manager() async throws -> AlertManager {
        if let opening { return try await opening.value }
        // A task of its own: the call that opens it may be cancelled.
        let task = Task { [open] in try await open(AgentServer.name) }
        opening = task
        do {
            return try await task.value
        } catch {
            if opening == task { opening = nil }
            throw error
        }
    }

    /// Has later calls open the queue anew, if an error may mean that this manager is of no more
    /// use: its file was replaced, or its disk fails. Calls that wait keep it until they end.
    func discard(_ manager: AlertManager, after error: any Error) async {
        switch error {
        case AlertError.incompatible, AlertError.storage, AlertError.closed: break
        default: return
        }
        guard let opening, case .success(let current) = await opening.result,
            current === manager, self.opening == opening
        else { return }
        self.opening = nil
    }

    func close() async {
        guard let opening, case .success(let manager) = await opening.result else { return }
        await manager.close()
    }
}

/// The waits of the calls for responses.
final class AgentWait: Sendable {
    /// How long a call waits.
    let limit: Duration
    /// How many calls wait for each alert.
    private let counts = Mutex<[Alert.ID: Int]>([:])

    /// How often a client hears that a call still waits.
    private static let progressInterval = Duration.seconds(5)

    init(limit: Duration) {
        self.limit = limit
    }

    /// Whether a call waits for an alert.
    func isAwaited(_ id: Alert.ID) -> Bool { counts.withLock { $0[id, default: 0] > 0 } }

    /// Waits for a response, while the client hears of the progress; `nil` if the time is up or the
    /// call ends early.
    func resolution(
        of record: AlertRecord, _ call: ToolCall, _ manager: AlertManager
    ) async throws -> AlertRecord? {
        let id = record.id
        counts.withLock { $0[id, default: 0] += 1 }
        defer { counts.withLock { $0[id] = $0[id].flatMap { $0 > 1 ? $0 - 1 : nil } } }
        do {
            return try await call.waiting { [limit] in
                try await withThrowingTaskGroup(of: AlertRecord?.self) { group in
                    group.addTask { try await manager.resolution(of: id) }
                    group.addTask {
                        try await Self.passTime(limit, id, call)
                        return nil
                    }
                    defer { group.cancelAll() }
                    return try await group.next() ?? nil
                }
            }
        } catch is CancellationError {
            return nil
        }
    }

    private static func passTime(
        _ limit: Duration, _ id: Alert.ID, _ call: ToolCall
    ) async throws {
        var passed = Duration.zero
        while passed < limit {
            await call.report(
                progress: passed.components.seconds, of: limit.components.seconds,
                "alert \(id) waits for an answer")
            let step = min(progressInterval, limit - passed)
            try await Task.sleep(for: step)
            passed += step
        }
    }
}
