import AlertQueue
import FoundationEssentials
import TextFormats

/// Runs a program once for each question: for those that wait, and then for new ones, in the order
/// in which they were asked.
///
/// The cursor is stored after each run. So a question is repeated only if this process ended
/// between its run and that.
struct QuestionHook: Sendable {
    let manager: AlertManager
    /// The source and the time of the questions; other conditions are for responses.
    let filter: HistoryFilter
    let program: HookProgram
    /// Where it continues at the next start; without it, that begins with what waits.
    let cursor: CursorFile?
    let isJSON: Bool
    let context: Context

    private static let backoff = Backoff(longest: .seconds(600))

    /// Works until the task is cancelled.
    func run() async throws {
        var log = GrowingLog(manager, after: try await start())
        while !Task.isCancelled {
            for entry in try await log.next() {
                let head = try log.pass(entry)
                guard entry.event.kind == .asked, let id = entry.event.alertID,
                    isWanted(entry.event)
                else { continue }
                guard try await take(id) else { return }
                try cursor?.store(head)
            }
        }
    }

    /// Where the log is read from: after the stored entry, or before the oldest question that
    /// waits.
    private func start() async throws -> AuditHead {
        if let head = try cursor?.head() {
            return try await AuditCursor.entry(head).head(in: manager)
        }
        // What is asked from now on comes later in the log.
        let end = manager.position.head
        // A walk may miss an alert that moves up in the queue meanwhile, but not twice.
        var oldest = try await oldestWaiting()
        while true {
            let again = try await oldestWaiting()
            if again == oldest { break }
            oldest = again
        }
        guard let oldest, let entry = try await manager.audit(of: oldest, limit: 1).first else {
            return end
        }
        let start = AuditHead(sequence: entry.event.sequence - 1, hash: entry.previous)
        return start.sequence < end.sequence ? start : end
    }

    /// The alert that was asked first among those that wait: ids grow in the order of asking.
    private func oldestWaiting() async throws -> Alert.ID? {
        var oldest: Alert.ID?
        try await manager.forEachWaiting(source: filter.source) { record in
            oldest = min(oldest ?? record.id, record.id)
        }
        return oldest
    }

    private func isWanted(_ event: AlertEvent) -> Bool {
        filter.source.map { event.source.isIdentical(to: $0) } ?? true
            && filter.since.map { event.at >= $0 } ?? true
    }

    /// Runs the program for an alert if it is a question that waits; returns `false` if this
    /// process was asked to end before the program was done.
    private func take(_ id: Alert.ID) async throws -> Bool {
        // The question before may have been the last one before the end.
        if Task.isCancelled { return false }
        var failures = 0
        while let record = try await waiting(id) {
            let end = await program.run(try HookProgram.Input(of: record, in: manager))
            if end == .exited(0) {
                if isJSON { try context.print(AlertJSON.line(record)) }
                return true
            }
            if Task.isCancelled { return false }
            guard case .notStarted = end else {
                note(id, end.text)
                return true
            }
            // It has not been run, so it is still to be.
            failures += 1
            let pause = Self.backoff.pause(after: failures)
            note(id, "\(end.text); trying again in \(pause.components.seconds) s")
            guard (try? await Task.sleep(for: pause)) != nil else { return false }
        }
        return true
    }

    /// The alert, if it has buttons and waits; a question that the log contradicts is reported.
    private func waiting(_ id: Alert.ID) async throws -> AlertRecord? {
        var retry = DiskRetry()
        while true {
            do throws(AlertError) {
                let record = try await manager.record(id)
                return record.response == nil && !record.alert.buttons.isEmpty ? record : nil
            } catch .inconsistent(let id, let problem) {
                context.note("watch: \(AlertError.inconsistent(id, problem))")
                return nil
            } catch {
                try await retry.pause(after: error)
            }
        }
    }

    private func note(_ id: Alert.ID, _ what: String) {
        context.note("watch: alert \(id): \(program.words[0]) \(what)")
    }
}
