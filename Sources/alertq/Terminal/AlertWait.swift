import AlertQueue
import Glibc
import TextFormats

/// The wait of an `ask` or `notify --wait`, from the stored alert to its end; or of `wait`, for the
/// first of several.
struct AlertWait: Sendable {
    /// How a wait ends.
    enum End: Sendable {
        /// `isPrinted` says whether the person at this terminal has seen how it ended.
        case resolved(AlertRecord, isPrinted: Bool)
        case timeUp
        case interrupted(Int32)
    }

    let manager: AlertManager
    /// The alerts whose first response ends the wait; one is shown only if it is the only one.
    let records: [AlertRecord]
    let context: Context
    let limit: Duration?
    var unattended = Unattended.wait
    /// Whether the alert is written as a numbered prompt.
    var isPlain = false
    /// This process's own terminal, if it may use one.
    let terminal: ControllingTerminal?
    let signals: SignalWatch

    private var single: AlertRecord? { records.count == 1 ? records[0] : nil }

    /// Waits until an alert is resolved, the time is up, or a signal asks the process to end.
    func end() async throws -> End {
        var screen: AskScreen?
        if let terminal, let single {
            screen = try AskScreen(
                single, manager: manager, terminal: terminal, isPlain: isPlain,
                context: context)
        }
        if terminal?.isForeground != true { await noteHowToAnswer() }
        do {
            let end = try await firstEnd(screen)
            await screen?.finish()
            guard case .resolved(let record, _) = end else { return end }
            return .resolved(record, isPrinted: await screen?.hasPrintedResult == true)
        } catch {
            await screen?.finish()
            throw error
        }
    }

    private func firstEnd(_ screen: AskScreen?) async throws -> End {
        try await withThrowingTaskGroup(of: End?.self) { group in
            for record in records {
                group.addTask {
                    .resolved(try await manager.resolution(of: record.id), isPrinted: false)
                }
            }
            group.addTask { try await nextSignal(screen) }
            if let limit {
                group.addTask {
                    try await Task.sleep(for: limit)
                    return .timeUp
                }
            }
            if case .applyDefault(let time?) = unattended, let single {
                group.addTask {
                    try await expireUnattended(single, after: time)
                    return nil
                }
            }
            if let screen {
                group.addTask {
                    await screen.run()
                    return nil
                }
            }
            defer { group.cancelAll() }
            while let end = try await group.next() {
                if let end { return end }
            }
            throw CancellationError()
        }
    }

    /// Lets the alert expire once nobody has been there to see it for the whole given time.
    private func expireUnattended(_ record: AlertRecord, after limit: Duration) async throws {
        // From the first check that found nobody: someone may have been there between two checks.
        var start: ContinuousClock.Instant?
        while true {
            var isAttended = terminal?.isForeground == true
            if !isAttended {
                isAttended =
                    await manager.screens().mayShow(record.alert, record.id)
            }
            let since = isAttended ? nil : start ?? .now
            start = since
            let left = since.map { limit - $0.duration(to: .now) } ?? limit
            guard left <= .zero else {
                try await Task.sleep(for: min(max(left, .milliseconds(1)), .seconds(1)))
                continue
            }
            do {
                try await manager.expireUnattended(record.id)
                return
            } catch {
                // Another response came first; otherwise the disk fails or is busy, and may work
                // later.
                if ExitCode(error) == .conflict { return }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func nextSignal(_ screen: AskScreen?) async throws -> End? {
        let suspension = Suspension {
            await screen?.leave()
        } comeBack: {
            try await screen?.comeBack()
        }
        return try await suspension.nextSignal(of: signals).map(End.interrupted)
    }

    private func noteHowToAnswer() async {
        guard let record = single else {
            let list = records.map { "\($0.id)" }.joined(separator: ", ")
            context.inform("waiting for the first response among alerts \(list)")
            return
        }
        let screens = await manager.screens()
        let isThere = screens.all.contains(where: \.isThere)
        if let line = screens.whereabouts(of: record.id), context.errors.isTerminal || !isThere {
            context.inform(line)
        }
        if !isThere, let line = Self.howToAnswer(record, path: manager.path) {
            context.inform(line)
        }
    }

    /// What to type elsewhere to answer an alert; `nil` for one without buttons.
    ///
    /// The line is made to be copied, so it never destroys anything: where a button does, it names
    /// the one that means no, or none.
    static func howToAnswer(_ record: AlertRecord, path: String) -> String? {
        let buttons = record.alert.buttons
        guard let first = buttons.first else { return nil }
        let destroys = buttons.contains { $0.role == .destructive }
        let offered = destroys ? buttons.first { $0.role == .cancel } : first
        let ids = buttons.map(\.id)
        let head = ids.dropLast().joined(separator: ", ")
        let choice = (head.isEmpty ? "" : head + " or ") + ids.suffix(1).joined()
        let values =
            offered?.role == .cancel
            ? [] : record.alert.fields.filter { $0.isRequired && $0.initialValue == nil }
        let command = ShellText.answer(
            record.id, button: offered?.id ?? "BUTTON", fields: values, path: path)
        // The command comes last, so that it can be copied up to the end of the line.
        return "waiting for an answer to alert \(record.id) (\(choice)); answer with: \(command)"
    }
}
