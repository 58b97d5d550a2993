import AlertCore

/// Runs the same random steps on two kinds of stores, one after the other, and compares everything
/// that they return.
package struct StoreComparison {
    /// A queue, and two processes that use it.
    private struct Side {
        let queue: ContractQueue
        let processes: [any AlertStore]
    }

    private var sides: [Side] = []
    private var steps: RandomSteps
    /// How many alerts were stored: a run in which every step fails would prove nothing.
    package private(set) var changes = 0
    /// The last steps, for the message about a difference.
    private var recent: [String] = []

    package init(seed: UInt64, _ queues: ContractQueue...) async throws {
        steps = RandomSteps(seed: seed)
        for queue in queues {
            sides.append(
                Side(queue: queue, processes: [try await queue.open(), try await queue.open()]))
        }
    }

    /// Runs some steps, and compares the logs from time to time and at the end.
    ///
    /// - Throws: ``ContractFailure`` that describes the first difference, and the steps before it.
    package mutating func play(_ count: Int) async throws {
        var compared: Int64 = 0
        for number in 1...max(1, count) {
            let (step, caller, process) = steps.next()
            recent.append("\(number): \(caller.principal.label) in \(process): \(step)")
            if recent.count > 12 { recent.removeFirst() }
            var results: [StepResult] = []
            for side in sides {
                results.append(try await play(step, by: caller, in: process, on: side))
            }
            try compare(results, after: number)
            switch results[0] {
            case .receipt(let record, let isNew, _, _, _, _):
                if isNew { changes += 1 }
                steps.note(record.id, isWaiting: record.response == nil)
            case .failure(let error):
                if let ended = error.response { steps.note(ended.alertID, isWaiting: false) }
            case .upcoming, .page, .facts: break
            }
            if number.isMultiple(of: 100) || number == count {
                compared = try await compareLogs(after: compared, number)
            }
        }
        for side in sides { try await side.processes[0].expectSound() }
    }

    /// Closes all stores.
    package func close() async {
        for side in sides { await side.queue.close() }
    }

    private func compare(_ results: [StepResult], after number: Int) throws {
        guard results.contains(where: { $0 != results[0] }) else { return }
        throw ContractFailure(
            description: "after step \(number) the stores differ:\n"
                + results.map { "\($0)" }.joined(separator: "\n")
                + "\nThe last steps were:\n" + recent.joined(separator: "\n"))
    }

    /// Compares the new entries of the logs; returns the number of the last one.
    private func compareLogs(after sequence: Int64, _ number: Int) async throws -> Int64 {
        var results: [StepResult] = []
        var last = sequence
        for side in sides {
            let store = side.processes[0]
            let entries = try await store.entries(from: sequence + 1, limit: 10_000)
            for entry in entries { try entry.checkHash() }
            for (one, next) in zip(entries, entries.dropFirst()) {
                try next.checkLink(
                    after: one.event.cursor)
            }
            last = entries.last?.event.sequence ?? last
            results.append(try await result(entries, on: store))
        }
        try compare(results, after: number)
        return last
    }

    private func result(
        _ entries: [AuditEntry], on store: any AlertStore
    ) async throws -> StepResult {
        var seen: [Alert.ID: String?] = [:]
        for id in Set(entries.compactMap(\.event.alertID)) {
            seen[id] = try await store.record(id).seen
        }
        return StepResult(entries, seen: seen)
    }
}

// MARK: - One step

extension StoreComparison {
    private func play(
        _ step: RandomStep, by caller: Caller, in process: Int, on side: Side
    ) async throws -> StepResult {
        let store = side.processes[process]
        do {
            switch step {
            case .advance(let duration):
                side.queue.clock.advance(by: duration)
                return try await settle(side)
            case .setWall(let milliseconds):
                let now = side.queue.clock.now().wallMilliseconds
                side.queue.clock.setWall(milliseconds: now + milliseconds)
                return try await settle(side)
            case .find(let reference): return StepResult(try await store.find(reference))
            case .next(let query):
                // The store may not know yet what others did; a read brings it up to date.
                _ = try await store.pendingCount()
                return StepResult(try await store.next(query))
            case .page(let query): return StepResult(try await store.page(query))
            case .entries(let query):
                return try await result(try await store.entries(query), on: store)
            case .statistics(let query):
                return StepResult(try await store.statistics(query) { _, _ in })
            case .count: return .facts(["\(try await store.pendingCount())"])
            case .verify:
                let report = try await store.verify(expecting: nil)
                return .facts(["\(report.entries)"] + report.problems.map(\.reason))
            case .notePresented(let id), .noteReturned(let id), .noteCollected(let id):
                return try await note(step, about: id, by: caller, side, store)
            case .ask, .resolve, .snooze, .claim, .release, .collect, .run, .requestCancel:
                guard let change = try await change(step, on: store) else { return .facts([]) }
                return StepResult(try await store.commit(change, by: caller))
            }
        } catch let error as AlertError {
            return .failure(error)
        }
    }

    /// The change of a step, with the digest that results from the store's own salt.
    private func change(
        _ step: RandomStep, on store: any AlertStore
    ) async throws -> Change? {
        switch step {
        case .ask(let question): return .ask(question)
        case .resolve(let id, let resolution, let seen):
            guard seen != .nothing else { return .resolve(id, resolution) }
            let digest = try await store.record(id).seen.flatMap { Hex.bytes($0) }
            return .resolve(
                id, resolution, seen: seen == .whatWasAsked ? digest : digest?.reversed())
        case .claim(let id, let end, let isForced):
            return .claim(id, until: end, isForced: isForced)
        case .release(let id, let isForced): return .release(id, isForced: isForced)
        case .snooze(let id, let end): return .snooze(id, until: end)
        case .collect(let id, let reason): return .collect(id, because: reason)
        case .run(let id, let step): return .run(id, step)
        case .requestCancel(let id, let authority): return .requestCancel(id, authority)
        default: return nil
        }
    }

    /// Posts an entry, and waits until it is written.
    private func note(
        _ step: RandomStep, about id: Alert.ID, by caller: Caller, _ side: Side,
        _ store: any AlertStore
    ) async throws -> StepResult {
        switch step {
        case .notePresented:
            let record = try await store.record(id)
            store.post(.presented(record), by: caller)
        case .noteReturned:
            let record = try await store.record(id)
            store.post(.returned(record, because: .reason(.detached)), by: caller)
        default:
            store.post(.collected(id), by: caller)
        }
        // The note is written before the next commit; there is no alert 0.
        _ = try? await store.commit(.collect(0), by: caller)
        return StepResult(try await store.find(.id(id)))
    }

    /// Has the store record everything that is due.
    private func settle(_ side: Side) async throws -> StepResult {
        let store = side.processes[0]
        // A look for the next alert stores what is due; for alerts of its own a screen always looks.
        _ = try await store.next(ScreenQuery(for: ["terminal"], own: [0]))
        return StepResult(try await store.page(RecordQuery(.history(HistoryFilter()), limit: 1)))
    }
}
