import AlertPresenters
import AlertQueue
import Linux

/// What `run` does once its options are known.
struct RunSession: Sendable {
    let session: AskSession
    let words: [String]
    /// Whether a default button that was applied at the deadline runs the command.
    let allowsDefault: Bool
    /// Whether a program's yes is not enough.
    let onlyPerson: Bool
    let isJSON: Bool

    /// An answer that has been used to start the command.
    private struct Approval {
        let record: AlertRecord
        let signals: SignalWatch
        let relay: SignalRelay
    }

    private var context: Context { session.context }

    func run() async throws -> ExitCode {
        do {
            let command = try ApprovedCommand(words)
            return try await run(command, by: try await approval(of: command))
        } catch let refusal as RunRefusal {
            return try refuse(refusal)
        } catch let error where error is Interruption || error is CommandEnd {
            throw error
        } catch let error as OutputError where error.isBrokenPipe {
            throw error
        } catch {
            return try refuse(RunRefusal(.error, "\(error)"))
        }
    }

    private func refuse(_ refusal: RunRefusal) throws -> ExitCode {
        context.note("run: not run: \(refusal.message)")
        if isJSON { try context.print(refusal.json.text()) }
        return .notRun
    }
}

// MARK: - Asking

extension RunSession {
    /// Asks until an answer allows the command and is used by this process.
    private func approval(of command: ApprovedCommand) async throws -> Approval {
        var alert = try session.question.complete(in: context)
        // First of all what is to run: no other text may push it off the screen.
        alert.message = [command.description, alert.message].compactMap { $0 }
            .joined(separator: "\n\n")
        // A hook or a wait for the alert must not take the answer.
        alert.handler = "alertq.run"
        try alert.validate()
        let key = DerivedKey(
            session.verb,
            of: command.parts + [alert.title, alert.message ?? ""]
                + alert.buttons.flatMap { [$0.id, $0.title, "\($0.role, default: "-")"] }
                + [alert.defaultButton ?? "", "\(alert.validFor?.milliseconds ?? 0)"]
                + alert.userInfo.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
        let terminal = alert.isFor("terminal") ? ControllingTerminal() : nil
        return try await session.queue.open(
            via: session.verb, source: alert.source, waiting: ServerWait(in: context)
        ) { manager in
            var signals: SignalWatch?
            while true {
                if session.question.key == nil { alert.key = try await key.current(manager) }
                if signals == nil, try await session.mustFail(alert, terminal, manager) {
                    throw RunRefusal(.unattended, "there is nobody to ask; nothing was stored")
                }
                let watch = signals ?? SignalWatch(stops: terminal != nil)
                signals = watch
                let asked = try await session.ask(alert, terminal, watch, manager)
                if session.question.key == nil, hasEndedUndecided(asked.record) {
                    try await manager.collect(asked.record.id)
                    continue
                }
                do {
                    let approval = try await self.approval(by: asked, terminal, watch, manager)
                    if let approval { return approval }
                } catch let error as AlertError {
                    throw RunRefusal(.error, "\(error)", asked.record)
                }
            }
        }
    }

    /// Waits for an answer that allows the command, and uses it; `nil` if it must be asked for again.
    private func approval(
        by asked: AskSession.Asked, _ terminal: ControllingTerminal?, _ signals: SignalWatch,
        _ manager: AlertManager
    ) async throws -> Approval? {
        if try await isStale(asked.record, manager) { return nil }
        let end = try await session.end(of: asked, terminal, signals, manager)
        let record = try await answered(asked.record, end, manager)
        if let relay = try await use(record, signals, manager) {
            return Approval(record: record, signals: signals, relay: relay)
        }
        if try await isStale(try await manager.record(record.id), manager) { return nil }
        let problem = "the answer to alert \(record.id) has been used by another process"
        guard session.question.key == nil else { throw RunRefusal(.used, problem, record) }
        context.inform("run: \(problem); asking again")
        return nil
    }

    /// Whether the answer to an alert was given too long ago, or is one that a backup had, and the
    /// command is to be asked about again.
    ///
    /// - Throws: ``RunRefusal`` if its key can't be asked with again.
    private func isStale(_ record: AlertRecord, _ manager: AlertManager) async throws -> Bool {
        guard let response = record.response, response.collectedAt == nil,
            response.allowsRun(byDefault: true)
        else { return false }
        let problem: String
        if response.isStale {
            problem = "\(AlertError.stale(record))"
        } else if try await manager.wasRestored(sinceEndOf: record.id) {
            problem =
                "the answer to alert \(record.id) was given before the queue was restored from a "
                + "backup, and may have been used since then"
        } else {
            return false
        }
        try await manager.collect(record.id, because: .stale)
        guard session.question.key == nil else { throw RunRefusal(.stale, problem, record) }
        context.inform("run: \(problem); asking again")
        return true
    }

    /// Whether an alert ended before anybody decided, while no process waited for it.
    private func hasEndedUndecided(_ record: AlertRecord) -> Bool {
        guard let response = record.response, response.outcome == .expired else { return false }
        return !response.allowsRun(byDefault: allowsDefault)
    }

    /// The alert with an answer that allows the command.
    ///
    /// - Throws: ``RunRefusal`` where there is none; any other end is then collected.
    private func answered(
        _ asked: AlertRecord, _ end: AlertWait.End, _ manager: AlertManager
    ) async throws -> AlertRecord {
        switch end {
        case .timeUp:
            let record = try await manager.record(asked.id)
            throw RunRefusal(.waiting, "alert \(asked.id) still waits", record)
        case .interrupted(let signal): throw Interruption(signal: signal)
        case .resolved(let record, let isPrinted):
            try record.check(isThatOf: asked)
            let record = try await manager.settled(record)
            let ending = "alert \(record.id): \(record.ending(context.noteTime))"
            if let response = record.response, !record.isErased,
                response.allowsRun(byDefault: allowsDefault), response.by == .person || !onlyPerson
            {
                let isOwn = response.responder?.process?.isCurrent == true
                if context.errors.isTerminal, !isPrinted, !isOwn { context.inform(ending) }
                return record
            }
            do {
                try await manager.collect(record.id)
            } catch {
                context.note("run: the response could not be marked as collected: \(error)")
            }
            throw RunRefusal(record, ending, needsPerson: onlyPerson)
        }
    }

    /// Marks an answer as used, and has the command receive the signals from then on; `nil` if
    /// another process has used it.
    private func use(
        _ record: AlertRecord, _ signals: SignalWatch, _ manager: AlertManager
    ) async throws -> SignalRelay? {
        let relay = SignalRelay()
        signals.passOn(to: relay)
        if let signal = signals.end { throw Interruption(signal: signal) }
        do {
            if try await manager.startRun(record.id, allowsDefault: allowsDefault) { return relay }
        } catch {
            guard signals.end != nil else { throw error }
            context.note("run: not run: \(error)")
        }
        signals.passOn(to: nil)
        if let signal = signals.end { throw Interruption(signal: signal) }
        return nil
    }
}

// MARK: - Running

extension RunSession {
    /// Runs the command to its end, with the queue closed, and logs how it ended.
    private func run(
        _ command: ApprovedCommand, by approval: Approval
    ) async throws -> ExitCode {
        ProcessLimits.endWatch()
        let record = approval.record
        // Not before the answer is used: one for a command that has changed allows nothing.
        do { try command.checkIsUnchanged() } catch {
            await log(.changed, of: record)
            throw RunRefusal(.error, "\(error)", record)
        }
        let child: ChildProcess
        do throws(LinuxError) {
            child = try command.start(
                signals: approval.signals.allNumbers,
                variables: [
                    ("ALERTQ_ALERT", "\(record.id)"),
                    ("ALERTQ_BUTTON", record.response?.button?.id ?? ""),
                ])
        } catch {
            await log(.refused(code: error.code), of: record)
            throw RunRefusal(.error, "\(error)", record)
        }
        approval.relay.connect(to: child)
        let status = await child.end()
        // From here on they are about the log's entry, and not about the command.
        approval.signals.passOn(to: nil)
        if let signal = status?.signal {
            await log(.signalled(signal), of: record)
            throw Interruption(signal: signal)
        }
        if let code = status?.exitCode {
            await log(.exited(status: code), of: record)
            throw CommandEnd(status: code)
        }
        context.note("run: the command has ended, but its exit status is not known")
        return .notRun
    }

    private func log(_ end: RunStep, of record: AlertRecord) async {
        do {
            try await session.queue.open(via: session.verb) { manager in
                try await manager.endRun(record.id, end)
            }
        } catch {
            // What the command has done, and its exit code, are facts all the same.
            context.note("run: the end of the command could not be logged: \(error)")
        }
    }
}
