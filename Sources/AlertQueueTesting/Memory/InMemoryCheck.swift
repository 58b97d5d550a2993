import AlertCore

/// A verification of a queue in memory, by the rules of every store.
enum InMemoryCheck {
    /// - Throws: ``AlertError/cancelled(_:)`` when the task is cancelled.
    static func report(
        on queue: InMemoryQueue, at now: ClockReading, expecting head: AuditHead?,
        _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws(AlertError) -> AuditReport {
        var verifier = AuditVerifier(expecting: head)
        var trails: [Alert.ID: AlertTrail] = [:]
        let input = HashInput()
        for line in queue.log.lines {
            guard !Task.isCancelled else { throw .cancelled("the verification") }
            if let id = line.entry.event.alertID {
                trails[id, default: AlertTrail(of: id)].add(line.entry)
            }
            verifier.add(LoggedEntry(line.entry, input))
            progress(Int(verifier.report.entries), queue.log.lines.count)
        }
        for alert in queue.alerts {
            let trail = trails.removeValue(forKey: alert.id) ?? AlertTrail(of: alert.id)
            let faults =
                trail.allFaults(of: alert.stored, at: now)
            verifier.add(faults.map { $0.problem(of: alert.id) })
        }
        for (id, trail) in trails {
            verifier.add(trail.faultsWithoutAlert.map { $0.problem(of: id) })
        }
        if queue.waiting.map(\.id) != queue.alerts.filter({ $0.response == nil }).map(\.id) {
            verifier.add("the waiting alerts are not those without a response")
        }
        verifier.end()
        return verifier.report
    }
}
