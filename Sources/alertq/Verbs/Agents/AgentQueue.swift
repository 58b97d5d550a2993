import AlertQueue

/// The queue behind a server, which is opened by the first call that needs it.
///
/// A server runs for days. If the queue can't be opened, or its file is replaced, the next call
/// opens it anew.
actor AgentQueue {
    private let choice: QueueChoice
    private var opening: Task<AlertManager, any Error>?

    init(_ choice: QueueChoice) {
        self.choice = choice
    }

    /// The manager of the queue.
    func manager() async throws -> AlertManager {
        if let opening { return try await opening.value }
        // A task of its own: the call that opens it may be cancelled.
        let task = Task { [choice] in
            try await QueueChoice.manager(
                path: choice.path, source: MCPCommand.name, via: MCPCommand.name)
        }
        opening = task
        do {
            return try await task.value
        } catch {
            if opening == task { opening = nil }
            throw error
        }
    }

    /// Opens the queue anew for later calls, if the error means that this manager is of no more
    /// use.
    func note(_ error: any Error, of manager: AlertManager) async {
        guard let opening, case .success(let current) = await opening.result, current === manager
        else { return }
        switch error {
        case AlertError.incompatible, AlertError.storage, AlertError.closed: break
        default: return
        }
        guard self.opening == opening else { return }
        self.opening = nil
        // The calls that wait there fail, too, and their clients can repeat them.
        Task { await manager.close() }
    }

    func close() async {
        guard let opening, case .success(let manager) = await opening.result else { return }
        await manager.close()
    }
}
