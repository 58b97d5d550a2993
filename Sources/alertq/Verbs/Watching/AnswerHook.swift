import AlertQueue

/// Runs a program for each uncollected response, and collects those that it is done with.
///
/// One response at a time, oldest first. A failed run is tried again after a time that grows with
/// each failure; a new response waits for one or two of those runs at most. While a success can't be
/// stored, nothing else runs: its success could not be stored either.
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
            let (position, start) = (manager.position, manager.now)
            do {
                let isEnd = try await takeNew(&progress)
                // One run of each at most: new responses must not wait for all that fail.
                let hasRun = try await takeDue(&progress)
                try await takeForgotten(&progress)
                retry.succeed()
                if isEnd, !hasRun, progress.review == nil {
                    await wait(for: progress.retries.nextMoment(after: start), or: position)
                }
            } catch let error as AlertError {
                try await retry.pause(after: error)
            }
        }
    }

    /// Offers some of the responses that it has not seen; returns whether there are no more.
    private func takeNew(_ progress: inout Progress) async throws -> Bool {
        let page = try await manager.awaitingHook(filter, after: progress.position, limit: 100)
        for record in page.records where progress.retries[record.id] == nil {
            guard !Task.isCancelled else { return true }
            try await offer(record.id, failures: 0, &progress.retries)
        }
        progress.position = page.next ?? progress.position
        return page.isEnd
    }

    /// Offers what is due, what has waited longest first, until the program has run once; returns
    /// whether it has.
    private func takeDue(_ progress: inout Progress) async throws -> Bool {
        let now = manager.now
        let due = progress.retries.due(at: now)
        for retry in due.sorted(by: { RetryList.isEarlier($0, $1, at: now) }) {
            guard !Task.isCancelled else { return false }
            try await offer(retry.id, failures: retry.failures, &progress.retries)
            // It has not run where another process has the response.
            guard let next = progress.retries[retry.id], next.failures == retry.failures else {
                return true
            }
        }
        return false
    }

    /// Continues to look for forgotten responses, if it is time to, until it has offered one.
    private func takeForgotten(_ progress: inout Progress) async throws {
        if progress.review == nil, let forgotten = progress.retries.recall(at: manager.now) {
            progress.review = Review(failures: forgotten.failures)
        }
        for _ in 0..<100 {
            guard let review = progress.review, !Task.isCancelled else { return }
            let page = try await manager.awaitingHook(filter, after: review.position, limit: 1)
            let position = page.next ?? review.position
            let isOver = page.isEnd || position >= progress.position
            guard let record = page.records.first, position <= progress.position else {
                progress.review?.position = position
                if isOver { progress.review = nil }
                continue
            }
            let isKnown = progress.retries[record.id] != nil
            if !isKnown {
                try await offer(record.id, failures: review.failures, &progress.retries)
            }
            progress.review?.position = position
            if isOver { progress.review = nil }
            if !isKnown { return }
        }
    }

    /// Waits until a moment, or until something has changed after a position, or a second has passed.
    private func wait(for moment: ClockReading?, or position: LogPosition) async {
        let due = moment.map { manager.now.time(until: $0) }
        guard let due, due < .seconds(1) else {
            return await manager.waitForChange(after: position)
        }
        // Cancelled when the process is asked to end, which the caller sees.
        try? await Task.sleep(for: max(due, .milliseconds(1)))
    }

    /// Runs the program for a response, which is to be tried again if that fails.
    private func offer(
        _ id: Alert.ID, failures: Int, _ retries: inout RetryList
    ) async throws {
        let retry = try await retry(of: id, failures: failures)
        retries.remove(id)
        if let (failures, pause) = retry {
            let now = manager.now
            retries.add(
                .init(id: id, failures: failures, due: now.advanced(by: pause)), at: now)
        }
    }

    /// Runs the program for a response; returns how often it has failed by then and when to try
    /// again, if that has to be.
    private func retry(
        of id: Alert.ID, failures: Int
    ) async throws -> (failures: Int, pause: Duration)? {
        let end = await manager.process(id, of: nil, grace: Self.grace) { record, lease in
            try await run(for: record, lease)
        }
        switch end {
        case .gone: return nil
        case .stale:
            note(id, "was not started: the answer is stale")
            return nil
        case .collected(let record):
            if isJSON { try context.print(AlertJSON.line(record)) }
            return nil
        case .held: return (failures, .seconds(1))
        case .failed(let error):
            let pause = RetryList.delay(after: failures + 1)
            switch error {
            // The program is not run for a response that the log contradicts, only for the rest.
            case AlertError.inconsistent: context.note("watch: \(error)")
            case let error as AlertError: throw error
            case _ where Task.isCancelled: break
            default: note(id, "\(error); trying again in \(pause.components.seconds) s")
            }
            return (failures + 1, pause)
        case .unstored(let error):
            note(id, "succeeded, but that could not be stored, so that it will run again")
            throw error
        case .notLeased(let error): throw error
        }
    }

    /// Why the program is not done with a response, as the end of a sentence.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private func run(for record: AlertRecord, _ lease: any AlertLease) async throws {
        // The columns by which the response was found may differ from the checked record.
        guard filter.admits(record) else {
            throw Failure(
                description: "was not started: the response does not match the conditions")
        }
        let input: HookProgram.Input
        do {
            input = try HookProgram.Input(of: record, in: manager, kept: lease.descriptor)
        } catch {
            throw Failure(description: "was not started: \(error)")
        }
        let end = await program.run(input)
        guard end == .exited(0) else {
            // This process ends, or has lost its lease to another one.
            if Task.isCancelled { note(record.id, "\(end.text); its response stays uncollected") }
            throw Failure(description: end.text)
        }
    }

    private func note(_ id: Alert.ID, _ what: String) {
        context.note("watch: alert \(id): \(program.words[0]) \(what)")
    }
}
