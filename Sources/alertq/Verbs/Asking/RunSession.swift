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
        var join = Question.Join.same
        if alert.key == nil {
            alert.key = Question.stem(session.verb, of: command.parts + [alert.identity])
            join = .numbered(Question.Reuse(byDefault: allowsDefault))
        }
        let terminal = alert.isFor("terminal") ? ControllingTerminal() : nil
        return try await session.queue.open(
            via: session.verb, source: alert.source, waiting: ServerWait(in: context)
        ) { manager in
            if try await session.mustFail(alert, join, terminal, manager) {
                throw RunRefusal(.unattended, "there is nobody to ask; nothing was stored")
            }
            let signals = SignalWatch(stops: terminal != nil)
            while true {
                let asked = try await session.ask(alert, join, signals, manager)
                await session.note(asked, terminal, manager)
                if let unused = asked.unused { note(unused) }
                do {
                    let approval = try await self.approval(by: asked, terminal, signals, manager)
                    if let approval { return approval }
                } catch let error as AlertError {
                    throw RunRefusal(.error, "\(error)", asked.record)
                }
            }
        }
    }

    /// Waits for an answer that allows the command, and uses it; `nil` if it must be asked for again.
    private func approval(
        by asked: PendingQuestion, _ terminal: ControllingTerminal?, _ signals: SignalWatch,
        _ manager: AlertManager
    ) async throws -> Approval? {
        let end = try await session.end(of: asked, terminal, signals, manager)
        let record = try await answered(asked.record, end, manager)
        let relay = SignalRelay()
        let problem: (RunRefusal.Reason, String)
        switch try await use(record, signals, relay, manager) {
        case .granted: return Approval(record: record, signals: signals, relay: relay)
        case .unusable(let unused): problem = (.stale, Self.problem(unused))
        case .used:
            problem = (.used, "the answer to alert \(record.id) has been used by another process")
        }
        guard session.question.key == nil else { throw RunRefusal(problem.0, problem.1, record) }
        context.inform("run: \(problem.1); asking again")
        return nil
    }

    /// Says why the command is asked about although it was answered, if somebody had decided.
    private func note(_ unused: UnusedResponse) {
        guard unused.reason != .undecided else { return }
        context.inform("run: \(Self.problem(unused)); asking again")
    }

    private static func problem(_ unused: UnusedResponse) -> String {
        unused.reason == .stale
            ? "\(AlertError.stale(unused.record))"
            : "the answer to alert \(unused.record.id) was given before the queue was restored from "
                + "a backup, and may have been used since then"
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

    /// Marks an answer as used, and has the command receive the signals from then on.
    private func use(
        _ record: AlertRecord, _ signals: SignalWatch, _ relay: SignalRelay,
        _ manager: AlertManager
    ) async throws -> RunPermission {
        signals.passOn(to: relay)
        if let signal = signals.end { throw Interruption(signal: signal) }
        var permission = RunPermission.used
        do {
            permission = try await manager.startRun(record.id, allowsDefault: allowsDefault)
            if case .granted = permission { return permission }
        } catch {
            guard signals.end != nil else { throw error }
            context.note("run: not run: \(error)")
        }
        signals.passOn(to: nil)
        if let signal = signals.end { throw Interruption(signal: signal) }
        return permission
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
