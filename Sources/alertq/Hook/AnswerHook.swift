import AlertQueue
import FoundationEssentials

/// Runs a program for each response that nobody has taken, and collects those that it is done with.
///
/// One response at a time, oldest first. What fails is tried again after a time that grows with
/// each failure.
package struct AnswerHook: Sendable {
    package let manager: AlertManager
    package let filter: HistoryFilter
    package let program: HookProgram
    package let isJSON: Bool
    package let context: Context

    /// How long a response is left to an asker whose process still runs.
    private static let grace = Duration.seconds(10)
    /// How many responses may wait for another try, before no more are looked for.
    private static let retryLimit = 1000
    private static let longestDelay = Duration.seconds(600)

    /// A response that has to be tried again.
    private struct Retry {
        var id: Alert.ID
        var failures: Int
        var due: ContinuousClock.Instant
    }

    /// Works until the task is cancelled.
    package func run() async throws {
        var retries: [Retry] = []
        var place: Int64 = 0
        var failingSince: ContinuousClock.Instant?
        while !Task.isCancelled {
            let seen = manager.changeCount
            do {
                try await manager.storeOverdue()
                let isEnd = try await takeNew(&retries, after: &place)
                try await takeDue(&retries)
                failingSince = nil
                if isEnd || retries.count >= Self.retryLimit {
                    await wait(for: retries, after: seen)
                }
            } catch let error as AlertError {
                // A disk that fails now may not in a moment.
                let since = failingSince ?? .now
                failingSince = since
                if since.duration(to: .now) > .seconds(5) { throw error }
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    /// Offers some of the responses that it has not seen; returns whether there are no more.
    private func takeNew(_ retries: inout [Retry], after place: inout Int64) async throws -> Bool {
        let room = Self.retryLimit - retries.count
        guard room > 0 else { return true }
        let page = try await manager.uncollected(filter, behind: place, limit: min(room, 100))
        for record in page.records {
            guard !Task.isCancelled else { return true }
            if let retry = try await offer(record.id, failures: 0) { retries.append(retry) }
        }
        place = page.place
        return page.isEnd
    }

    private func takeDue(_ retries: inout [Retry]) async throws {
        let due = retries.filter { $0.due <= .now }
        for retry in due {
            guard !Task.isCancelled else { return }
            let next = try await offer(retry.id, failures: retry.failures)
            retries.removeAll { $0.id == retry.id }
            if let next { retries.append(next) }
        }
    }

    private func wait(for retries: [Retry], after seen: UInt64) async {
        let due = retries.map { ContinuousClock.now.duration(to: $0.due) }.min()
        guard let due, due < .seconds(1) else { return await manager.waitForChange(after: seen) }
        // Cancelled when the process is asked to end, which the caller sees.
        try? await Task.sleep(for: max(due, .milliseconds(1)))
    }

    /// Runs the program for a response; returns when to try again, if that has to be.
    private func offer(_ id: Alert.ID, failures: Int) async throws -> Retry? {
        let offer = try await manager.offer(id, grace: Self.grace) { record, turn in
            await isDone(with: record, turn, failures: failures)
        }
        switch offer {
        case .gone: return nil
        case .collected:
            if isJSON { try context.print(AlertJSON.line(try await manager.record(id))) }
            return nil
        case .taken: return Retry(id: id, failures: failures, due: .now + .seconds(1))
        case .failed:
            let delay = Self.delay(after: failures + 1)
            return Retry(id: id, failures: failures + 1, due: .now + delay)
        }
    }

    /// 1 s, 2 s, 4 s and so on, up to ten minutes.
    package static func delay(after failures: Int) -> Duration {
        min(.seconds(1 << min(max(failures, 1) - 1, 20)), longestDelay)
    }

    private func isDone(
        with record: AlertRecord, _ turn: any HandlerTurn, failures: Int
    ) async -> Bool {
        do {
            let input = HookProgram.Input(
                text: try AlertJSON.line(record) + "\n", variables: variables(record),
                kept: turn.descriptor)
            let end = await program.run(input)
            if end == .exited(0) { return true }
            guard !Task.isCancelled else {
                tell(record.id, "\(end.text); its response stays uncollected")
                return false
            }
            let delay = Self.delay(after: failures + 1).components.seconds
            tell(record.id, "\(end.text); trying again in \(delay) s")
        } catch {
            tell(record.id, "\(error)")
        }
        return false
    }

    private func variables(_ record: AlertRecord) -> [(name: String, value: String)] {
        [
            ("ALERTQ_DATABASE", QueueChoice.absolute(manager.path)),
            ("ALERTQ_ALERT", "\(record.id)"), ("ALERTQ_KEY", record.alert.key ?? ""),
            ("ALERTQ_OUTCOME", record.response?.outcome.rawValue ?? ""),
            ("ALERTQ_BUTTON", record.response?.button?.id ?? ""),
        ]
    }

    private func tell(_ id: Alert.ID, _ what: String) {
        context.note("watch: alert \(id): \(program.words[0]) \(what)")
    }
}

extension HookProgram.End {
    /// How it ended, as the end of a sentence.
    fileprivate var text: String {
        switch self {
        case .exited(let code): "exited with \(code)"
        case .killed(let signal): "was ended by signal \(signal)"
        case .tookTooLong: "took too long and was ended"
        case .notStarted(let reason): "could not be started (\(reason))"
        }
    }
}
