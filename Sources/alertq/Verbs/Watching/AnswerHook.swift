import AlertQueue

/// Runs a program for each uncollected response, and collects those that it is done with.
///
/// One response at a time, oldest first. A failed run is tried again after a time that grows with
/// each failure; a new response waits for one or two of those runs at most.
struct AnswerHook: Sendable {
    let manager: AlertManager
    let filter: HistoryFilter
    let program: HookProgram
    let isJSON: Bool
    let context: Context

    /// How many responses may wait for another try before some are forgotten for a while.
    var retryLimit = 1000
    /// How long the store is left alone before it is read again for forgotten ones.
    var pause = Duration.seconds(60)

    /// How long a response is left to an asker whose process still runs.
    private static let grace = Duration.seconds(10)
    private static let backoff = Backoff(longest: .seconds(600))

    /// How far the store has been read, and what has to be tried again.
    private struct Progress {
        var retries: RetryList
        /// Up to here everything has been offered once.
        var position: Int64 = 0
        /// The second pass over responses that were offered before, for those that were forgotten.
        var review: Review?
    }

    private struct Review {
        var position: Int64 = 0
        /// The number of failures that is assumed for the responses that it finds.
        let failures: Int
    }

    /// Works until the task is cancelled.
    func run() async throws {
        var progress = Progress(retries: RetryList(limit: retryLimit, pause: pause))
        var retry = DiskRetry()
        while !Task.isCancelled {
            let position = manager.position
            do {
                let isEnd = try await takeNew(&progress)
                // One run of each at most: new responses must not wait for all that fail.
                let hasRun = try await takeDue(&progress)
                try await takeForgotten(&progress)
                retry.succeed()
                if isEnd, !hasRun, progress.review == nil {
                    await wait(for: progress.retries, after: position)
                }
            } catch let error as AlertError {
                try await retry.pause(after: error)
            }
        }
    }

    /// Offers some of the responses that it has not seen; returns whether there are no more.
    private func takeNew(_ progress: inout Progress) async throws -> Bool {
        let page = try await manager.unclaimed(filter, after: progress.position, limit: 100)
        for record in page.records where !progress.retries.contains(record.id) {
            guard !Task.isCancelled else { return true }
            if let retry = try await offer(record.id, failures: 0) {
                progress.retries.add(retry, now: .now)
            }
        }
        progress.position = page.next ?? progress.position
        return page.isEnd
    }

    /// Offers what is due until the program has run once; returns whether it has.
    private func takeDue(_ progress: inout Progress) async throws -> Bool {
        for retry in progress.retries.due(at: .now) {
            guard !Task.isCancelled else { return false }
            let next = try await offer(retry.id, failures: retry.failures)
            progress.retries.remove(retry.id)
            guard let next else { return true }
            progress.retries.add(next, now: .now)
            if next.failures > retry.failures { return true }
        }
        return false
    }

    /// Continues to look for forgotten responses, if it is time to, until it has offered one.
    private func takeForgotten(_ progress: inout Progress) async throws {
        if progress.review == nil, let forgotten = progress.retries.recall(at: .now) {
            progress.review = Review(failures: forgotten.failures)
        }
        for _ in 0..<100 {
            guard let review = progress.review, !Task.isCancelled else { return }
            let page = try await manager.unclaimed(filter, after: review.position, limit: 1)
            let position = page.next ?? review.position
            let isOver = page.isEnd || position >= progress.position
            guard let record = page.records.first, position <= progress.position else {
                progress.review?.position = position
                if isOver { progress.review = nil }
                continue
            }
            let isKnown = progress.retries.contains(record.id)
            if !isKnown, let next = try await offer(record.id, failures: review.failures) {
                progress.retries.add(next, now: .now)
            }
            progress.review?.position = position
            if isOver { progress.review = nil }
            if !isKnown { return }
        }
    }

    private func wait(for retries: RetryList, after position: LogPosition) async {
        let due = retries.firstDue.map { ContinuousClock.now.duration(to: $0) }
        guard let due, due < .seconds(1) else {
            return await manager.waitForChange(after: position)
        }
        // Cancelled when the process is asked to end, which the caller sees.
        try? await Task.sleep(for: max(due, .milliseconds(1)))
    }

    /// Runs the program for a response; returns when to try again, if that has to be.
    private func offer(_ id: Alert.ID, failures: Int) async throws -> RetryList.Retry? {
        let offer: HookOffer
        do throws(AlertError) {
            offer = try await manager.offer(id, grace: Self.grace) { record, turn in
                await isDone(with: record, turn, failures: failures)
            }
        } catch {
            // The program is not run for a response that the log contradicts, only for the rest.
            guard case .inconsistent = error else { throw error }
            context.note("watch: \(error)")
            offer = .failed
        }
        switch offer {
        case .gone: return nil
        case .stale:
            note(id, "was not started: the answer is stale")
            return nil
        case .collected:
            if isJSON { try context.print(AlertJSON.line(try await manager.record(id))) }
            return nil
        case .taken: return .init(id: id, failures: failures, due: .now + .seconds(1))
        case .failed:
            let delay = Self.delay(after: failures + 1)
            return .init(id: id, failures: failures + 1, due: .now + delay)
        }
    }

    /// 1 s, 2 s, 4 s and so on, up to ten minutes.
    static func delay(after failures: Int) -> Duration {
        backoff.pause(after: failures)
    }

    private func isDone(
        with record: AlertRecord, _ turn: any Claim, failures: Int
    ) async -> Bool {
        // The columns by which the response was found may differ from the checked record.
        guard filter.admits(record) else {
            note(record.id, "was not started: the response does not match the conditions")
            return false
        }
        do {
            let input = try HookProgram.Input(of: record, in: manager, kept: turn.descriptor)
            let end = await program.run(input)
            if end == .exited(0) { return true }
            // This process ends, or has lost the turn to another one.
            guard !Task.isCancelled else {
                note(record.id, "\(end.text); its response stays uncollected")
                return false
            }
            let delay = Self.delay(after: failures + 1).components.seconds
            note(record.id, "\(end.text); trying again in \(delay) s")
        } catch {
            note(record.id, "\(error)")
        }
        return false
    }

    private func note(_ id: Alert.ID, _ what: String) {
        context.note("watch: alert \(id): \(program.words[0]) \(what)")
    }
}
