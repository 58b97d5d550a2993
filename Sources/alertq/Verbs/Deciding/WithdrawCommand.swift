import AlertQueue

/// `alertq withdraw ID…`: takes alerts back, for its asker; with `--orphaned`, those of askers that
/// are gone.
struct WithdrawCommand: RevokingCommand {
    static let name = "withdraw"
    static let abstract = "Take alerts back, because their questions no longer matter"
    static let operands: [Operand<Self>] = [Operand(.alertID, each: \.alerts.ids)]
    static let options: [Option<Self>] =
        [
            Option(
                "orphaned", \.takesOrphaned, help: "All questions for whose answers nobody waits"),
            Option("because", .text("TEXT"), \.reason, help: "Why; it is the note of the response"),
            .force,
        ] + byKey
    static let discussion = [
        """
        With --orphaned, it takes back every question of this account whose asker waited for the \
        answer and is gone, and for which nobody else waits: one whose ask was killed, for \
        example. A question that was asked with --detach or --wait-for, or by run, mcp or hook, is \
        never among them, and neither is one that was asked less than ten seconds ago. --source \
        and --user restrict it to one asker or account; for root it takes back those of all accounts \
        of its machine, and with --force those of all accounts. If there is none, the exit code is 0.
        """,
        """
        --because says why, in at most 1 KiB: audit list and show print it, and it is the “note” of \
        the response, for its asker. It is erased with the alert's texts; the audit log keeps its hash.
        """,
        forceDiscussion, severalDiscussion,
    ]

    /// How many alerts are in memory at a time.
    private static let pageSize = 500

    var common = QueueOptions()
    var alerts = NamedAlerts()
    var isForced = false
    private var takesOrphaned = false
    /// Why, as the log is to say it.
    private var reason: String?

    mutating func validate() throws {
        let namesNone = alerts.ids.isEmpty && alerts.keys.isEmpty
        guard takesOrphaned || !namesNone else {
            throw UsageError("expected ID, --key KEY, or --orphaned")
        }
        guard takesOrphaned else { return try alerts.check(for: queue) }
        guard namesNone else {
            throw UsageError("--orphaned can't be combined with ID or --key; give one of them")
        }
        try alerts.findPrincipal(for: queue)
    }

    func run(in context: Context) async throws -> ExitCode {
        guard !takesOrphaned else { return try await withdrawOrphaned(in: context) }
        var results: [Alert.ID: Result<AlertRecord, AlertError>] = [:]
        return try await change(in: context) { manager, id in
            if results.isEmpty, alerts.ids.count > 1 {
                let all = try await manager.withdraw(alerts.ids, authority, because: reason)
                results = Dictionary(uniqueKeysWithValues: zip(alerts.ids, all))
            }
            if let result = results[id] { return try result.get() }
            return try await manager.withdraw(id, authority, because: reason)
        }
    }
}

// MARK: - Orphaned questions

extension WithdrawCommand {
    private func withdrawOrphaned(in context: Context) async throws -> ExitCode {
        var (first, isNone) = (ExitCode.done, true)
        _ = try await queue.openExisting(via: Self.name) { manager in
            var last: Alert.ID?
            while true {
                let page = try await manager.pending(
                    source: alerts.source, after: last, limit: Self.pageSize)
                let ids = page.filter { isMeant($0, manager) }.map(\.id)
                let results = try await RewriteNote.whileStoring(in: manager, context) {
                    try await manager.withdraw(
                        ids, authority, because: reason ?? "nobody waited for the answer",
                        onlyIfOrphaned: true)
                }
                for (id, result) in zip(ids, results) {
                    let code = try note(result, of: id, in: context)
                    if first == .done { first = code }
                    isNone = false
                }
                guard page.count == Self.pageSize, let end = page.last else { return }
                last = end.id
            }
        }
        if isNone, context.errors.isTerminal { context.note("no question is orphaned") }
        return first
    }

    /// Whether a question is to be taken back: without `--user`, others' only if they may be.
    private func isMeant(_ record: AlertRecord, _ manager: AlertManager) -> Bool {
        guard record.isOrphaned else { return false }
        if let asker = alerts.principal { return record.source.principal == asker }
        return isForced || manager.mayCollect(record)
    }

    /// Prints what became of one question.
    ///
    /// - Throws: An error that isn't about this question.
    private func note(
        _ result: Result<AlertRecord, AlertError>, of id: Alert.ID, in context: Context
    ) throws -> ExitCode {
        switch result {
        // Somebody has begun to wait for it since it was read.
        case .success(let record) where record.response == nil: return .done
        case .success(let record):
            if isJSON { try context.print(AlertJSON.line(record)) }
            context.note(Self.ending(record, in: context))
            return .done
        // It has ended in the meantime, so there is nothing to take back.
        case .failure(let error) where ExitCode(error) == .conflict: return .done
        case .failure(let error):
            guard Self.isAboutOneAlert(error) else { throw error }
            let code = ExitCode(error)
            context.fail(error, Self.name, code)
            return code
        }
    }
}
