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
