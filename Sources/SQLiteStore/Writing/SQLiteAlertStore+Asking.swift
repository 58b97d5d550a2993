import AlertCore
import Linux
import SQLite

extension SQLiteAlertStore {
    nonisolated(nonsending) func storeQuestion(
        _ question: Question, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        // A known key needs no write, and so no disk space.
        if let known = try await known(question, of: caller) { return known }
        let prepared = PreparedQuestion(question, by: caller)
        let stored = try await commits.perform(.ask, Self.storing) { try prepared.store(in: $0) }
        return prepared.receipt(of: stored)
    }

    /// Stores one alert on the calling thread, without a store and its threads.
    ///
    /// A process that writes once and ends would spend more time on them than on its write. This
    /// never waits: `nil` means that nothing was stored; open a store, which waits or reports the
    /// problem.
    ///
    /// Gain: `alertq notify` takes 0.83 times as long (`alertq-bench notify`, files in memory;
    /// against `nil` at once).
    ///
    /// - Throws: The errors of ``Change/ask(_:)`` once its transaction has begun.
    package static func enqueueAtOnce(
        _ question: Question, by caller: Caller, path: String, clock: any AlertClock = .system
    ) throws(AlertError) -> Receipt? {
        // A key is looked up before anything is written; a queue is created under the lock.
        guard question.alert.key == nil, let files = try? QueueFiles(database: path),
            FileIdentity(path: files.database) != nil, (try? WriteAccess.check(files)) != nil
        else { return nil }
        let writer = Writer(files: files, clock: clock, known: LogTail(), busyTime: .zero)
        defer { writer.close() }
        guard (try? writer.open()) != nil else { return nil }
        let bell = Bell(path: files.bell, mode: files.mode)
        bell.create()
        SlotFile(path: files.slot, mode: files.mode).allocate()
        let prepared = PreparedQuestion(question, by: caller)
        guard (try? writer.tryLock()) == true else { return nil }
        defer { writer.unlock() }
        guard (try? writer.begin()) != nil else { return nil }
        let box = ResultBox<PreparedQuestion.Stored>()
        let job = WriteJob(kind: .ask, operation: storing) { context in
            box.put(try prepared.store(in: context))
        }
        let outcome = writer.commit([job])
        if let error = outcome.errors[0] { throw error }
        bell.ring()
        writer.checkpointIfDue()
        return box.value.map(prepared.receipt)
    }

    private static let storing = "store the alert"

    private nonisolated(nonsending) func known(
        _ question: Question, of caller: Caller
    ) async throws(AlertError) -> Receipt? {
        guard let key = question.alert.key else { return nil }
        return try await read("look for the key") { [clock] db in
            guard
                let row = try db.checkedAlert(
                    key: key, source: question.source, uid: caller.identity.uid),
                // An expiry that is not stored yet is stored first.
                !row.isOverdue(at: clock.now())
            else { return nil }
            return try db.join(row, question, sequence: try db.lastSequence())
        }
    }
}
