import AlertQueue
import Glibc

/// What a hook does, from the request on its standard input to the reply on its standard output.
///
/// It always ends with an exit code that the agent knows: whatever fails is a denial.
package struct HookSession: Sendable {
    /// How much longer to wait than until the deadline, so that the expiry is stored and read.
    private static let grace = Duration.seconds(5)
    /// How many times a question that nobody decides is asked.
    private static let maximumRepeats = 100

    private let agent: HookAgent
    private let options: HookOptions
    private let context: AgentContext

    package init(_ agent: HookAgent, _ options: HookOptions, _ context: AgentContext) {
        self.agent = agent
        self.options = options
        self.context = context
    }

    /// Replies, and returns whether the reply is a verdict; otherwise the hook has failed.
    package func run() async -> Bool {
        var event: HookRequest.Event?
        do {
            let bytes = try HookInput.read(
                STDIN_FILENO, within: min(options.wait, HookInput.limit), context)
            event = HookRequest.event(in: bytes)
            let request: HookRequest
            do {
                request = try HookRequest(bytes)
            } catch {
                throw HookFailure.unreadable(error)
            }
            event = request.event
            try await answer(request)
            return true
        } catch {
            deny(HookFailure(error), event)
            return false
        }
    }

    /// Denies in the agent's format what a wrong command line keeps from being asked.
    ///
    /// Some agents read nothing else.
    package static func refuse(
        _ reason: String, of agent: HookAgent, _ context: AgentContext
    ) {
        let bytes = try? HookInput.read(STDIN_FILENO, within: HookInput.limit, context)
        guard let event = bytes.flatMap(HookRequest.event),
            let line = try? agent.reply(.deny("the hook's options: \(reason)"), to: event)
        else { return }
        try? context.write(line + "\n")
    }

    private func answer(_ request: HookRequest) async throws {
        let source = options.source ?? agent.rawValue
        let question = try HookQuestion(request, of: agent)
        do {
            try await context.open(source).closing { manager in
                let record = try await ask(question, source: source, manager)
                let end = try await end(of: record, manager)
                let verdict = verdict(on: end, request)
                if let line = try agent.reply(verdict, to: request.event) {
                    try write(line)
                }
                if case .prompt = verdict { context.note(verdict.reason) }
                if end.response != nil { await collect(end, manager) }
            }
        } catch {
            // While a lock is held elsewhere, a signal ends the wait for it with another error.
            guard let signal = context.ending(), !(error is HookFailure) else { throw error }
            throw HookFailure.interrupted(signal, nil)
        }
    }

    private func write(_ line: String) throws(HookFailure) {
        do {
            try context.write(line + "\n")
        } catch {
            throw .unheard(error)
        }
    }

    /// Tells the agent why, in each of the ways that it documents: in its JSON, on stderr, and with
    /// the exit code. Which of them counts differs by event and version.
    private func deny(_ failure: HookFailure, _ event: HookRequest.Event?) {
        let verdict = HookVerdict.deny(failure.description)
        if let event, let line = try? agent.reply(verdict, to: event) {
            try? context.write(line + "\n")
        }
        context.note("\(failure)")
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
            UnreadableText("it was asked \(Self.maximumRepeats) times without an answer"))
    }

    /// The record once the alert has ended, or as it is when the wait is over.
    private func end(
        of record: AlertRecord, _ manager: AlertManager
    ) async throws -> AlertRecord {
        guard record.response == nil else { return record }
        let claim = await manager.claimResponse(to: record)
        defer { claim?.end() }
        let resolved = try await withThrowingTaskGroup(of: AlertRecord?.self) { group in
            group.addTask { try await manager.resolution(of: record.id) }
            group.addTask { [limit = options.wait + Self.grace] in
                try await Task.sleep(for: limit)
                return nil
            }
            group.addTask { [context] in
                for await signal in context.endings() {
                    throw HookFailure.interrupted(signal, record.id)
                }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let resolved else { return record }
        try resolved.check(isThatOf: record)
        return try await manager.settled(resolved)
    }

    private func collect(_ record: AlertRecord, _ manager: AlertManager) async {
        do {
            try await manager.collect(record.id)
        } catch {
            // The reply has been written, and is true; at worst it is given once more.
            context.note("the response could not be marked as collected: \(error)")
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

/// Why a request could not be put to anyone, or its answer not be waited for.
enum HookFailure: Error, CustomStringConvertible {
    case unreadable(any Error)
    /// The request is valid, and is nothing that an alert can show in full.
    case unshowable(any Error)
    case unreachable(any Error)
    /// The queue takes no such question, or not now.
    case refused(any Error)
    /// The queue contradicts its log.
    case untrusted(any Error)
    /// The reply could not be written.
    case unheard(any Error)
    /// A signal came; the alert stays, if there is one already.
    case interrupted(Int32, Alert.ID?)

    /// Why a question could not be asked or waited for.
    init(_ error: any Error) {
        self =
            switch error {
            case let failure as HookFailure: failure
            case let error as AlertError: Self(error)
            default: .unreachable(error)
            }
    }

    private init(_ error: AlertError) {
        self =
            switch error {
            case .invalid: .unshowable(error)
            case .tooManyPending, .tooManyPendingOfAccount, .keyConflict: .refused(error)
            case .inconsistent: .untrusted(error)
            default: .unreachable(error)
            }
    }

    var description: String {
        switch self {
        case .unreadable(let error):
            "the request for permission can't be read: \(error); nobody was asked"
        case .unshowable(let error):
            "the request for permission can't be shown in full: \(error); nobody was asked"
        case .unreachable(let error): "the queue can't be reached: \(error)"
        case .refused(let error): "nobody can be asked: \(error)"
        case .untrusted(let error): "the queue's record can't be trusted: \(error)"
        case .unheard(let error): "the reply can't be written: \(error)"
        case .interrupted(let signal, nil):
            "interrupted by \(Self.name(of: signal)) before anybody had answered"
        case .interrupted(let signal, let id?):
            "interrupted by \(Self.name(of: signal)) before anybody had answered; alert \(id) "
                + "stays in the queue until it expires, and the same request joins it"
        }
    }

    private static func name(of signal: Int32) -> String {
        switch signal {
        case SIGINT: "SIGINT"
        case SIGTERM: "SIGTERM"
        case SIGHUP: "SIGHUP"
        case SIGQUIT: "SIGQUIT"
        default: "signal \(signal)"
        }
    }
}

/// The options of the hooks.
package struct HookOptions: Sendable {
    /// What an agent is told when nobody has answered.
    package enum Unanswered: String, Sendable, CaseIterable {
        case prompt, deny
    }

    package var source: String?
    package var wait = Duration.seconds(540)
    package var priority = Alert.Priority.normal
    package var presenters: [String] = []
    package var ifUnanswered: Unanswered?
    package var needsPerson = false

    package init() {}
}
