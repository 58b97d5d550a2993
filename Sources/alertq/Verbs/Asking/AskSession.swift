import AlertQueue
import TextFormats

/// What `ask` and `notify` do once their options are known.
struct AskSession: Sendable {
    let verb: String
    let question: AlertOptions
    let queue: QueueChoice
    let waits: Bool
    let isJSON: Bool
    let context: Context

    /// Stores an alert on the calling thread, if nobody waits for it and nothing else is to be
    /// checked.
    func runAtOnce() throws -> ExitCode? {
        guard !waits, question.ifUnattended == .wait, !question.readsMessage,
            question.presenters.isEmpty
        else { return nil }
        let alert = try question.complete(in: context)
        guard let record = try queue.location.submitAtOnce(alert, via: verb) else {
            return nil
        }
        noteDeadline(record)
        return try printID(record)
    }

    func run() async throws -> ExitCode {
        let alert = try question.complete(in: context)
        let terminal = waits && alert.isFor("terminal") ? ControllingTerminal() : nil
        return try await queue.open(
            via: verb, source: alert.source, waiting: ServerWait(in: context)
        ) { manager in
            let join: Question.Join = question.replaces ? .replacing : .same
            if try await mustFail(alert, join, terminal, manager) { return try refuse(alert) }
            // From here on an interruption must not leave an alert that nobody waits for; before,
            // there is nothing to undo, and a signal simply ends the process.
            let signals = waits ? SignalWatch(stops: terminal != nil) : nil
            let asked = try await ask(alert, join, signals, manager)
            // Before anybody learns that this waits, and until the response is collected.
            let lease = waits ? await asked.lease() : nil
            defer { lease?.end() }
            await note(asked, terminal, manager)
            guard let signals else { return try printID(asked.record) }
            let printer = ResponsePrinter(verb: verb, isJSON: isJSON, context: context)
            guard asked.record.response == nil else {
                return try await printer.print(asked.record, manager)
            }
            let end = try await end(of: asked, terminal, signals, manager)
            do {
                return try await printer.print(end, of: [asked.record], manager)
            } catch {
                if case .timeUp = end { context.note(lastWords(asked, manager)) }
                throw error
            }
        }
    }
}

// MARK: - Asking

extension AskSession {
    /// Stores the alert, or joins the one that its key belongs to.
    ///
    /// - Throws: ``Interruption`` where a signal has come meanwhile.
    func ask(
        _ alert: Alert, _ join: Question.Join, _ signals: SignalWatch?, _ manager: AlertManager
    ) async throws -> PendingQuestion {
        let asked = try await submit(alert, join, manager, signals)
        // What is stored must not be left alone because threads are short for a moment.
        ProcessLimits.endWatch()
        if let signal = signals?.end {
            await giveUp(asked, manager)
            throw Interruption(signal: signal)
        }
        return asked
    }

    /// Says what the asker should know of a stored alert.
    func note(
        _ asked: PendingQuestion, _ terminal: ControllingTerminal?, _ manager: AlertManager
    ) async {
        if asked.isJoined { noteIgnored(asked.record) }
        noteDeadline(asked.record)
        let isOwn = asked.record.alert.isFor("terminal")
        await noteIfUnattended(asked.record, isOwn ? terminal : nil, manager)
    }

    /// Waits for the end of a stored alert; a signal withdraws it, unless another command may join
    /// it.
    func end(
        of asked: PendingQuestion, _ terminal: ControllingTerminal?, _ signals: SignalWatch,
        _ manager: AlertManager
    ) async throws -> AlertWait.End {
        let record = asked.record
        guard record.response == nil else { return .resolved(record, isPrinted: false) }
        signals.setLastWords(lastWords(asked, manager))
        let wait = AlertWait(
            manager: manager, records: [record], context: context,
            limit: question.waitFor?.distance(from: context.now()),
            unattended: question.unattended, isPlain: question.isPlain,
            // What was asked before may be for other screens than this terminal.
            terminal: record.alert.isFor("terminal") ? terminal : nil, signals: signals)
        let end: AlertWait.End
        do { end = try await wait.end() } catch {
            // The queue can't be used any longer; but it has the question.
            if [.notPermitted, .busy].contains(ExitCode(error)) {
                context.note(lastWords(asked, manager))
            }
            throw error
        }
        if case .interrupted = end { await giveUp(asked, manager) }
        return end
    }

    /// Whether somebody waits for the response until it is there: with `--wait-for`, the asker may
    /// leave before that, and come back.
    private var isAwaited: Bool { waits && question.waitFor == nil }

    private func submit(
        _ alert: Alert, _ join: Question.Join, mayBeNew: Bool = true, _ manager: AlertManager,
        _ signals: SignalWatch?
    ) async throws -> PendingQuestion {
        do {
            return try await RewriteNote.whileStoring(in: manager, context) {
                () async throws(AlertError) in
                try await manager.submit(
                    alert, isAwaited: isAwaited, join: join, mayBeNew: mayBeNew)
            }
        } catch AlertError.keyConflict(let key, let id, let part) {
            if let record = try? await manager.record(id),
                let reason = question.whyDefaultIsRefused(by: record, part, path: manager.path)
            {
                throw CommandError(.conflict, reason)
            }
            throw AlertError.keyConflict(key, id, part: part)
        } catch AlertError.alreadyResolved(let response) {
            let id = response.alertID
            throw CommandError(
                .conflict,
                "nothing was asked: alert \(id) has an answer that nobody has collected; to take it: "
                    + ShellText.verb("collect --id \(id)", path: manager.path))
        } catch {
            guard let signal = signals?.end else { throw error }
            // A commit that failed with a disk error may have reached the disk all the same.
            let isUnknown =
                switch error {
                case .storage, .damaged: true
                default: false
                }
            let what =
                isUnknown ? "it is not known whether the alert is stored" : "nothing was stored"
            context.note("\(verb): \(what): \(error)")
            throw Interruption(signal: signal)
        }
    }

    /// Whether nobody would see the alert, and that is a failure. A key may belong to an alert
    /// that has its response already: then there is nobody to look for.
    func mustFail(
        _ alert: Alert, _ join: Question.Join, _ terminal: ControllingTerminal?,
        _ manager: AlertManager
    ) async throws -> Bool {
        guard question.ifUnattended == .fail else { return false }
        if let terminal, terminal.isForeground { return false }
        guard await !manager.screens().mayShow(alert) else { return false }
        guard alert.key != nil else { return true }
        do {
            let joined = try await submit(alert, join, mayBeNew: false, manager, nil)
            return joined.record.response == nil
        } catch AlertError.keyNotFound {
            return true
        }
    }

    private func refuse(_ alert: Alert) throws -> ExitCode {
        if isJSON {
            let source = alert.source ?? ""
            try context.print(AlertJSON.line(unasked: alert, source: source))
        }
        let what = alert.buttons.isEmpty ? "notify" : "ask"
        context.note("\(verb): there is nobody to \(what); nothing was stored")
        return .unattended
    }

    /// Takes the alert back, or leaves it to another command with its key.
    private func giveUp(_ asked: PendingQuestion, _ manager: AlertManager) async {
        let record = asked.record
        guard !stays(asked) else {
            context.inform(Self.staysForKey(record))
            return
        }
        do {
            _ = try await manager.withdraw(record.id)
            context.inform("alert \(record.id) was withdrawn")
        } catch {
            guard ExitCode(error) != .conflict else { return context.note("\(verb): \(error)") }
            let holder = manager.lockHolder?.process.subject
            let reason = holder.map { $0 + " holds the queue's lock" } ?? "\(error)"
            context.note(
                "alert \(record.id) could not be withdrawn, because \(reason); it stays in the "
                    + "queue; to withdraw it: \(Self.withdrawal(of: record, manager))")
        }
    }

    /// Whether the alert stays if this command is interrupted: it was given a key for that, or
    /// another command may wait for it.
    private func stays(_ asked: PendingQuestion) -> Bool { question.key != nil || asked.isJoined }

    /// What is left to say when there is no time to undo anything.
    private func lastWords(_ asked: PendingQuestion, _ manager: AlertManager) -> String {
        let record = asked.record
        guard !stays(asked) else { return Self.staysForKey(record) }
        return "alert \(record.id) has not been withdrawn; unless it was resolved meanwhile, it "
            + "stays in the queue; to withdraw it: \(Self.withdrawal(of: record, manager))"
    }

    private static func staysForKey(_ record: AlertRecord) -> String {
        "alert \(record.id) stays in the queue; the same command joins it again"
    }

    private static func withdrawal(of record: AlertRecord, _ manager: AlertManager) -> String {
        ShellText.withdrawal(of: record.id, path: manager.path)
    }
}

// MARK: - Printing

extension AskSession {
    private func printID(_ record: AlertRecord) throws -> ExitCode {
        let isWanted = isJSON || verb != NotifyCommand.name || !question.isQuiet
        do {
            if isWanted { try context.print(isJSON ? AlertJSON.line(record) : "\(record.id)") }
        } catch {
            // The asker must be able to find it again, or to take it back.
            context.note("\(verb): the alert is stored as \(record.id), and stays in the queue")
            throw error
        }
        noteHowToCollect(record)
        return .done
    }

    /// Prints for a person how to get the response to an alert that has no key.
    private func noteHowToCollect(_ record: AlertRecord) {
        guard verb == AskCommand.name, !isJSON, record.alert.key == nil,
            context.errors.isTerminal
        else { return }
        let wait = ShellText.verb("wait \(record.id)", path: queue.path)
        let collect = ShellText.verb("collect --id \(record.id)", path: queue.path)
        context.inform("to wait for its answer: \(wait); to collect it later: \(collect)")
    }

    /// Prints that no screen shows an alert that only some may show.
    private func noteIfUnattended(
        _ record: AlertRecord, _ terminal: ControllingTerminal?, _ manager: AlertManager
    ) async {
        let alert = record.alert
        guard record.response == nil, alert.presenters != nil, terminal?.isForeground != true,
            await !manager.screens().mayShow(alert, record.id)
        else { return }
        context.inform("\(BackgroundError.unattended(record.id, presenters: alert.presenters))")
    }

    /// Prints on which day the alert expires, if its timeout was given as a time: 07:00 may be
    /// tomorrow's.
    private func noteDeadline(_ record: AlertRecord) {
        guard case .at? = question.timeout, record.response == nil, let end = record.expiresAt,
            verb != NotifyCommand.name || context.errors.isTerminal
        else { return }
        context.inform("alert \(record.id) expires at \(LocalTime.text(end, .whole))")
    }

    /// Prints which options are ignored because the alert was asked before, with others.
    private func noteIgnored(_ record: AlertRecord) {
        guard record.response == nil else { return }
        let options = question.ignored(by: record)
        guard !options.isEmpty else { return }
        context.inform(
            "alert \(record.id) was asked before, and keeps what it was asked with: "
                + options.joined(separator: "; "))
    }
}
