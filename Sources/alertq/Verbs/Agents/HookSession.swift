import AlertQueue
import Glibc

/// What a hook does, from the request on its standard input to the reply on its standard output.
///
/// It always ends with an exit code that the agent knows: whatever fails is a denial.
struct HookSession: Sendable {
    /// How much longer to wait than until the deadline, so that the expiry is stored and read.
    private static let grace = Duration.seconds(5)
    /// How many times a question that nobody decides is asked.
    private static let maximumRepeats = 100

    let verb: String
    let agent: HookAgent
    let options: HookOptions
    let queue: QueueChoice
    let context: Context

    func run() async -> ExitCode {
        // From here on, a signal is a denial too.
        let signals = SignalWatch(stops: false)
        var event: HookRequest.Event?
        do {
            let bytes = try HookInput.read(
                STDIN_FILENO, within: min(options.wait, HookInput.limit), signals)
            event = HookRequest.event(in: bytes)
            let request: HookRequest
            do {
                request = try HookRequest(bytes)
            } catch {
                throw HookFailure.unreadable(error)
            }
            event = request.event
            try await answer(request, signals)
            return .done
        } catch {
            return deny(HookFailure(error), event)
        }
    }

    private func answer(_ request: HookRequest, _ signals: SignalWatch) async throws {
        let source = options.source ?? agent.rawValue
        let question = try HookQuestion(request, of: agent)
        do {
            try await queue.open(via: verb, source: source) { manager in
                let record = try await ask(question, source: source, manager)
                let end = try await end(of: record, manager, signals)
                let verdict = verdict(on: end, request)
                if let line = try agent.reply(verdict, to: request.event) {
                    try context.print(line)
                }
                if case .prompt = verdict { context.note("\(verb): \(verdict.reason)") }
                if end.response != nil { await collect(end, manager) }
            }
        } catch {
            // While a lock is held elsewhere, a signal ends the wait for it with another error.
            guard let signal = signals.end, !(error is HookFailure) else { throw error }
            throw HookFailure.interrupted(signal, nil)
        }
    }

    /// Tells the agent why, in each of the ways that it documents: in its JSON, on stderr, and with
    /// the exit code. Which of them counts differs by event and version.
    private func deny(_ failure: HookFailure, _ event: HookRequest.Event?) -> ExitCode {
        let verdict = HookVerdict.deny(failure.description)
        if let event, let line = try? agent.reply(verdict, to: event) { try? context.print(line) }
        context.note("\(verb): \(failure)")
        return .denied
    }
}

// MARK: - Asking

extension HookSession {
    /// Asks, or joins the alert that the same request has asked before.
    ///
    /// An alert that ended before anybody decided is no answer to a new request. Neither is a
    /// decision that no hook has collected for longer than one waits: its agent has moved on.
    private func ask(
        _ question: HookQuestion, source: String, _ manager: AlertManager
    ) async throws -> AlertRecord {
        for number in 1...Self.maximumRepeats {
            let key = try await question.key(number, manager)
            let alert = question.alert(source: source, key: key, options)
            let record = try await manager.settled(try await manager.submit(alert).record)
            guard let response = record.response else { return record }
            let age =
                Timestamp.milliseconds(context.now())
                - Timestamp.milliseconds(response.resolvedAt)
            if response.button != nil, response.outcome == .answered,
                age <= options.wait.milliseconds
            {
                return record
            }
            try await manager.collect(record.id)
        }
        throw HookFailure.refused(
            CommandError(.conflict, "it was asked \(Self.maximumRepeats) times without an answer"))
    }

    /// The record once the alert has ended, or as it is when the wait is over.
    private func end(
        of record: AlertRecord, _ manager: AlertManager, _ signals: SignalWatch
    ) async throws -> AlertRecord {
        guard record.response == nil else { return record }
        let claim = await manager.claimResponse(to: record)
        defer { claim?.end() }
        let wait = AlertWait(
            manager: manager, records: [record], context: quiet,
            limit: options.wait + Self.grace, terminal: nil, signals: signals)
        switch try await wait.end() {
        case .resolved(let resolved, _):
            try resolved.check(isThatOf: record)
            return try await manager.settled(resolved)
        case .timeUp: return record
        case .interrupted(let signal): throw HookFailure.interrupted(signal, record.id)
        }
    }

    /// An agent reads what is written to its stderr, and must not learn there how to answer its own
    /// question; a person who tries the hook at a terminal may.
    private var quiet: Context {
        guard !context.errors.isTerminal else { return context }
        return Context(
            output: context.output, errors: Output { _ in }, variables: context.variables,
            now: context.now)
    }

    private func collect(_ record: AlertRecord, _ manager: AlertManager) async {
        do {
            try await manager.collect(record.id)
        } catch {
            // The reply has been written, and is true; at worst it is given once more.
            context.note("\(verb): the response could not be marked as collected: \(error)")
        }
    }
}

// MARK: - Deciding

extension HookSession {
    private func verdict(on record: AlertRecord, _ request: HookRequest) -> HookVerdict {
        if let verdict = HookVerdict(record, needsPerson: options.needsPerson) { return verdict }
        let ending =
            record.response == nil
            ? "still waits"
            : record.hasExpiredUnseen ? "expired without having been shown" : "expired"
        let reason =
            "nobody answered within \(LengthText.text(options.wait)): alert \(record.id) \(ending)"
        let isPrompted =
            switch options.ifUnanswered {
            case .deny?: false
            case .prompt?: agent.canPrompt(after: request.event)
            case nil: request.isPromptedOtherwise
            }
        return isPrompted ? .prompt(reason) : .deny(reason)
    }
}
