/// Follows the audit log for the actions of others, while anything in one manager depends on them.
actor LogListener: QueueActor {
    /// How long the log may be unreadable before the calls that wait for a response get the error.
    private static let patience = Duration.seconds(5)

    nonisolated let context: QueueContext
    private weak var manager: AlertManager?
    private var task: Task<Void, Never>?
    /// Whether new interest has arisen since the last check.
    private var isWanted = false
    private var isClosed = false
    /// When reading the log began to fail.
    private var failingSince: ClockReading?

    init(_ context: QueueContext) {
        self.context = context
    }

    deinit { task?.cancel() }

    func belong(to manager: AlertManager) { self.manager = manager }

    /// Follows the log from a sequence number, unless it is already being followed.
    func listen(from sequence: Int64) {
        isWanted = true
        guard task == nil, !isClosed else { return }
        task = Task { [weak self, store = context.store] in
            var position = LogPosition(sequence: sequence)
            while !Task.isCancelled {
                // While it waits, this task does not keep the manager alive.
                let news: Result<News, AlertError>
                do throws(AlertError) {
                    news = .success(try await store.news(after: position, of: .others))
                } catch {
                    news = .failure(error)
                }
                guard let (next, isFailing) = await self?.follow(news, after: position) else {
                    return
                }
                position = next
                // If the disk fails, try again in a second.
                if isFailing { try? await Task.sleep(for: .seconds(1)) }
            }
        }
    }

    func close() {
        isClosed = true
        task?.cancel()
    }

    /// Acts on the news; returns where to continue, and whether that failed, or `nil` if nothing
    /// depends on the log any longer.
    private func follow(
        _ news: Result<News, AlertError>, after position: LogPosition
    ) async -> (LogPosition, isFailing: Bool)? {
        guard let manager, !isClosed else { return nil }
        var (position, isFailing) = (position, false)
        do throws(AlertError) {
            let news = try news.get()
            if news.hasChanged { manager.presentation.wakeUps.wake() }
            for event in news.events {
                if let id = event.alertID { try await hear(event.kind, of: id, for: manager) }
                position = LogPosition(sequence: event.sequence)
            }
            position = news.position
            failingSince = nil
        } catch {
            isFailing = true
            await giveUpIfLasting(error, for: manager)
        }
        isWanted = false
        let isInterested = await manager.isInterestedInLog
        guard isInterested || isWanted, !isClosed else {
            task = nil
            return nil
        }
        return (position, isFailing)
    }

    /// Ends all waits if the queue is no longer the one that was opened, or has been unreadable for
    /// as long as a writer waits for its turn.
    private func giveUpIfLasting(_ error: AlertError, for manager: AlertManager) async {
        let now = context.clock.now()
        let since = failingSince ?? now
        failingSince = since
        let isOver = now.isAtOrAfter(since.advanced(by: Self.patience))
        if case .incompatible = error {} else { guard isOver else { return } }
        await manager.askers.failAll(with: error)
        if case .incompatible = error { await manager.presentation.fail(with: error) }
        await manager.presentation.show?.leave(because: "the queue can't be read")
    }

    private func hear(
        _ kind: AlertEvent.Kind, of id: Alert.ID, for manager: AlertManager
    ) async throws(AlertError) {
        switch kind {
        case .resolved: try await manager.hearResolved(id)
        case .presented: await manager.hearPresented(id)
        case .snoozed: await manager.noteSnoozed(id)
        case .returned: await manager.hearReturned(id)
        case .asked: manager.presentation.wakeUps.wake()
        case .cancelling: try await manager.hearCancelRequest(id)
        case .collected, .erased, .restored, .ran, .access, .reminded, .seen, .claimed, .moved,
            .superseded, .unused:
            break
        }
    }
}
