import AlertCore

// The changes and notes of the seam, as carried out by this store.
extension SQLiteAlertStore {
    package nonisolated(nonsending) func commit(
        _ change: Change, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        switch change {
        case .ask(let question):
            let receipt = try await storeQuestion(question, by: caller)
            if receipt.isNew { lookAhead.didAsk(receipt) }
            if receipt.record.response == nil, let expiry = receipt.expiry {
                timekeeper?.setAlarm(at: expiry)
            }
            return receipt
        case .resolve(let id, let resolution, let seen):
            let receipt = try await storeResponse(id, resolution, seen: seen, by: caller)
            lookAhead.didResolve(id)
            return receipt
        case .expire(let id):
            return try await storeExpiry(id, by: caller)
        case .snooze(let id, let end):
            let (receipt, end) = try await storeSnooze(id, until: end, by: caller)
            timekeeper?.setAlarm(at: end)
            return receipt
        case .collect(let id, let reason):
            return try await storeCollection(id, unused: reason, by: caller)
        case .run(let id, let step):
            return try await storeRun(id, step, by: caller)
        case .requestCancel(let id, let authority):
            return try await storeCancelRequest(id, authority, by: caller)
        }
    }

    package func post(_ note: Note, by caller: Caller) {
        switch note {
        case .presented(let record, let moment):
            postPresented(record, at: moment, by: caller)
        case .returned(let record, let reason):
            lookAhead.forget()
            postReturned(record, because: reason, by: caller)
        case .collected(let id):
            postCollected(id, by: caller)
        }
    }

    /// Stores overdue expiries before the history, to which they belong, is read.
    nonisolated(nonsending) func sweepForReading() async {
        // If that fails, the stored responses can still be read.
        guard let due = try? await due(), due.isNow else { return }
        try? await sweep(atMost: 10)
    }

    /// What is due now, and when something will be due next.
    nonisolated(nonsending) func due() async throws(AlertError) -> Due {
        try await read("look for what is due") { [clock] db in
            let now = clock.now()
            return Due(isNow: try db.isDue(at: now), next: try db.nextDue(at: now))
        }
    }
}
