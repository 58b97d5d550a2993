import AlertQueue
import Glibc
import TextFormats

/// What a hook does, from the message on its standard input to the reply on its standard output.
///
/// A request is always replied to in a way that the agent knows: whatever fails is a denial. An
/// event that shows that the agent has moved on withdraws what it no longer asks, and never disturbs
/// it.
package struct HookSession: Sendable {
    /// How much longer to wait than until the deadline, so that the expiry is stored and read.
    private static let grace = Duration.seconds(5)
    /// How often a hook looks whether its reader has gone.
    private static let readerInterval = Duration.milliseconds(500)

    private let agent: HookAgent
    private let options: HookOptions
    private let context: AgentContext
    /// When the agent is to have a reply, whatever takes time until then.
    private let end: ContinuousClock.Instant

    package init(_ agent: HookAgent, _ options: HookOptions, _ context: AgentContext) {
        self.agent = agent
        self.options = options
        self.context = context
        end = .now + options.wait
    }

    private var source: String { options.source ?? agent.rawValue }

    /// Does what the message asks for, and returns whether that has succeeded; a failure denies.
    package func run() async -> Bool {
        var bytes: [UInt8] = []
        do {
            try HookInput.read(
                STDIN_FILENO, into: &bytes, within: min(options.wait, HookInput.limit),
                ending: context.ending)
            switch try HookMessage(bytes) {
            case .request(let request): try await answer(request)
            case .progress(let progress): try await withdraw(progress)
            }
            return true
        } catch {
            let failure = HookFailure(error)
            context.note("\(failure)")
            return !Self.deny("\(failure)", bytes, agent, context.write)
        }
    }

    /// Denies in the agent's format what a wrong command line keeps from being asked, because some
    /// agents read nothing else; returns whether that was a request.
    ///
    /// - Parameters:
    ///   - ending: The signal that has asked the process to end, if one has.
    ///   - write: Writes to stdout.
    package static func refuse(
        _ reason: String, of agent: HookAgent, ending: () -> Int32?,
        write: (_ text: String) throws -> Void
    ) -> Bool {
        var bytes: [UInt8] = []
        try? HookInput.read(STDIN_FILENO, into: &bytes, within: HookInput.limit, ending: ending)
        return deny("the hook's options: \(reason)", bytes, agent, write)
    }

    /// Tells the agent why, in its JSON; the caller does so on stderr and with the exit code, too.
    /// Which of them counts differs by event and version.
    ///
    /// - Returns: Whether that denies something: only a request can be denied, and an agent may go
    ///   on for ever if told that it must not stop.
    private static func deny(
        _ reason: String, _ message: [UInt8], _ agent: HookAgent, _ write: (String) throws -> Void
    ) -> Bool {
        let event = HookMessage.event(in: message)
        guard !HookProgress.isEvent(event) else { return false }
        if let request = event.flatMap(HookRequest.Event.init),
            let line = try? agent.reply(.deny(reason), to: request)
        {
            try? write(line + "\n")
        }
        return true
    }
}

// MARK: - Requests

extension HookSession {
    private func answer(_ request: HookRequest) async throws {
        let question = try Self.question(request, of: agent)
        do {
            try await context.open(source).closing { manager in
                repeat {
                    guard let asked = try await ask(question, manager) else {
                        return try reply(verdictWhenUnattended(for: request), request)
                    }
                    if try await reply(to: request, by: asked, manager) { return }
                } while ContinuousClock.now < end
                throw HookFailure.refused(UnreadableText("others used the answers"))
            }
        } catch {
            // While a lock is held elsewhere, a signal ends the wait for it with another error.
            guard let signal = context.ending(), !(error is HookFailure) else { throw error }
            throw HookFailure.ended(.signal(signal), .unknown)
        }
    }

    private static func question(
        _ request: HookRequest, of agent: HookAgent
    ) throws(HookFailure) -> HookQuestion {
        do {
            return try HookQuestion(request, of: agent)
        } catch {
            throw .unshowable(error)
        }
    }

    /// Asks, or joins the alert of the same request; `nil` if nobody would see a new question, and
    /// it is not to wait for somebody.
    private func ask(
        _ question: HookQuestion, _ manager: AlertManager
    ) async throws -> PendingQuestion? {
        let left = max(ContinuousClock.now.duration(to: end), .milliseconds(1))
        let alert = question.alert(source: source, options, expiresAfter: left)
        var mayBeNew = true
        if options.ifUnattended != .wait { mayBeNew = await manager.screens().mayShow(alert) }
        do {
            return try await manager.submit(
                alert, join: question.join(options), mayBeNew: mayBeNew)
        } catch AlertError.keyNotFound {
            return nil
        }
    }

    /// Replies with the end of a question, and collects it; returns `false` if another hook with the
    /// same request has used the answer.
    private func reply(
        to request: HookRequest, by asked: PendingQuestion, _ manager: AlertManager
    ) async throws -> Bool {
        // Until it is collected, the response is this hook's.
        var lease = await asked.lease()
        defer { lease?.end() }
        var record = try await end(of: asked, manager)
        if record.response?.isAnswer == true {
            // One that was made while the server was away may not be held yet, or be lost.
            if lease?.isHeld != true {
                lease?.end()
                lease = try await asked.lease(within: Self.grace)
            }
            record = try await manager.record(record.id)
            guard lease != nil, record.response?.collectedAt == nil else { return false }
        }
        let verdict = verdict(on: record, request)
        if case .allow = verdict {
            // It is good for one reply, whatever becomes of that.
            guard try await manager.collect(record.id, because: nil).isNew else { return false }
            try reply(verdict, request)
        } else {
            try reply(verdict, request)
            await settle(record, manager)
        }
        return true
    }

    /// Stores that a response is taken, which may be the expiry of an overdue alert, or that nobody
    /// waits for an answer any more.
    private func settle(_ record: AlertRecord, _ manager: AlertManager) async {
        if record.response == nil {
            _ = await withdraw(
                record, because: "nobody answered in time", unused: .ended, manager)
        } else {
            await collect(record, manager)
        }
    }

    /// The record once the alert has ended, or as it is when the wait is over.
    ///
    /// - Throws: ``HookFailure/ended(_:_:)`` once nobody wants the answer any more; the alert is
    ///   then withdrawn.
    private func end(
        of asked: PendingQuestion, _ manager: AlertManager
    ) async throws -> AlertRecord {
        do {
            if let record = try await outcome(of: asked) { return record }
            // Its deadline has passed, even if no process has stored that.
            return try await manager.record(asked.record.id)
        } catch let HookFailure.ended(reason, _) {
            let record = asked.record
            let isWithdrawn = await withdraw(record, because: "\(reason)", unused: .ended, manager)
            throw HookFailure.ended(reason, isWithdrawn ? .withdrawn(record.id) : .left(record.id))
        }
    }

    private func outcome(of asked: PendingQuestion) async throws -> AlertRecord? {
        let id = asked.record.id
        return try await withThrowingTaskGroup(of: AlertRecord?.self) { group in
            group.addTask { try await asked.outcome() }
            group.addTask { [limit = end + Self.grace] in
                try await Task.sleep(until: limit, clock: .continuous)
                return nil
            }
            group.addTask { [context] in
                for await signal in context.endings() {
                    throw HookFailure.ended(.signal(signal), .left(id))
                }
                throw CancellationError()
            }
            group.addTask { [context] in
                while context.hasReader() { try await Task.sleep(for: Self.readerInterval) }
                throw HookFailure.ended(.noReader, .left(id))
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func reply(_ verdict: HookVerdict, _ request: HookRequest) throws {
        if let line = try agent.reply(verdict, to: request.event) {
            do {
                try context.write(line + "\n")
            } catch {
                throw HookFailure.unheard(error)
            }
        }
        if case .prompt = verdict { context.note(verdict.reason) }
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
        let ending: String
        switch record.response?.outcome {
        case .withdrawn?:
            // The agent has moved on, and its request, if there still is one, is its own.
            return verdictWithoutAnswer(
                "alert \(record.id) was \(record.ending(.whole))", request, nil)
        case nil: ending = "still waits"
        default: ending = record.hasExpiredUnseen ? "expired without having been shown" : "expired"
        }
        return verdictWithoutAnswer(
            "nobody answered within \(LengthText.text(options.wait)): alert \(record.id) \(ending)",
            request, options.ifUnanswered)
    }

    /// What an agent is told when nobody is at any screen; nothing has been asked.
    private func verdictWhenUnattended(for request: HookRequest) -> HookVerdict {
        let wish = options.ifUnattended.flatMap { HookOptions.Unanswered(rawValue: $0.rawValue) }
        return verdictWithoutAnswer(
            "nobody answered: no screen shows alerts, so nothing was asked", request, wish)
    }

    /// The verdict without an answer: what the options say, or else the agent's own prompt if it
    /// has one.
    private func verdictWithoutAnswer(
        _ reason: String, _ request: HookRequest, _ wish: HookOptions.Unanswered?
    ) -> HookVerdict {
        switch wish {
        case .prompt? where agent.canPrompt(after: request): .prompt(reason)
        case nil where request.event == .permissionRequest && agent.canPrompt(after: request):
            .prompt(reason)
        default: .deny(reason)
        }
    }
}

// MARK: - Withdrawing

extension HookSession {
    /// Withdraws what a session no longer asks, now that its agent has moved on.
    private func withdraw(_ progress: HookProgress) async throws {
        guard let manager = try await context.openExisting(source) else { return }
        try await manager.closing { manager in
            for record in try await ended(by: progress, manager) {
                if record.response == nil {
                    _ = await withdraw(
                        record, because: progress.reason, unused: .movedOn, manager)
                } else if let lease = try await manager.lease(record) {
                    // Its hook has died, perhaps just after it had returned the answer.
                    await collectUnused(record, .movedOn, manager)
                    lease.end()
                }
            }
        }
    }

    /// The waiting alerts that an event ends, and those whose answers no hook has taken.
    private func ended(
        by progress: HookProgress, _ manager: AlertManager
    ) async throws -> [AlertRecord] {
        var records: [AlertRecord] = []
        try await manager.forEachWaiting(source: source) { record in
            if progress.ends(record) { records.append(record) }
        }
        // An older answer is used by no hook.
        let start = context.now().addingTimeInterval(-Double(options.wait.components.seconds))
        let filter = HistoryFilter(
            source: source, outcome: .answered, since: start, uncollected: true)
        var last: Alert.ID?
        repeat {
            let page = try await manager.history(filter, limit: 1000, after: last)
            records += page.filter(progress.ends)
            last = page.count < 1000 ? nil : page.last?.id
        } while last != nil
        return records
    }

    /// Withdraws an alert, or logs that the answer which came before is not used; returns whether
    /// it was withdrawn.
    private func withdraw(
        _ record: AlertRecord, because reason: String, unused: EntryReason,
        _ manager: AlertManager
    ) async -> Bool {
        do {
            try await manager.withdraw(record.id, .own(.program), because: reason)
            try await manager.collect(record.id)
            return true
        } catch AlertError.alreadyResolved, AlertError.late {
            await collectUnused(record, unused, manager)
        } catch {
            context.note("alert \(record.id) could not be withdrawn, and stays: \(error)")
        }
        return false
    }

    private func collectUnused(
        _ record: AlertRecord, _ reason: EntryReason, _ manager: AlertManager
    ) async {
        do {
            try await manager.collect(record.id, because: reason)
        } catch {
            context.note("that the answer is not used could not be logged: \(error)")
        }
    }
}

// MARK: - Failures

/// Why a request could not be put to anyone, or its answer not be waited for.
enum HookFailure: Error, CustomStringConvertible {
    /// Why nobody waits for the answer any more.
    enum End: CustomStringConvertible {
        case signal(Int32)
        /// The agent has closed the stream on which it would read the reply.
        case noReader

        var description: String {
            switch self {
            case .signal(SIGINT): "the agent ended its hook with SIGINT"
            case .signal(SIGTERM): "the agent ended its hook with SIGTERM"
            case .signal(SIGHUP): "the agent ended its hook with SIGHUP"
            case .signal(SIGQUIT): "the agent ended its hook with SIGQUIT"
            case .signal(let number): "the agent ended its hook with signal \(number)"
            case .noReader: "the agent no longer reads the reply"
            }
        }
    }

    /// What is left of a question.
    enum Remains {
        case withdrawn(Alert.ID)
        /// It was answered too late, or could not be withdrawn.
        case left(Alert.ID)
        /// Whether there is one is not known.
        case unknown
    }

    case unreadable(any Error)
    /// The request is valid, and is nothing that an alert can show.
    case unshowable(any Error)
    case unreachable(any Error)
    /// The queue takes no such question, or not now.
    case refused(any Error)
    /// The queue contradicts its log.
    case untrusted(any Error)
    /// The reply could not be written.
    case unheard(any Error)
    /// Nobody waits for the answer; what has become of the alert, if there was one already.
    case ended(End, Remains?)

    /// Why a question could not be asked or waited for.
    init(_ error: any Error) {
        self =
            switch error {
            case let failure as HookFailure: failure
            case is UnreadableText: .unreadable(error)
            case let error as AlertError: Self(error)
            default: .unreachable(error)
            }
    }

    private init(_ error: AlertError) {
        self =
            switch error {
            case .invalid: .unshowable(error)
            case .tooManyPending, .tooManyPendingOfPrincipal, .keyConflict: .refused(error)
            case .inconsistent: .untrusted(error)
            default: .unreachable(error)
            }
    }

    var description: String {
        switch self {
        case .unreadable(let error):
            "the agent's message can't be read: \(error); nobody was asked"
        case .unshowable(let error):
            "the request for permission can't be shown: \(error); nobody was asked"
        case .unreachable(let error): "the queue can't be reached: \(error)"
        case .refused(let error): "nobody can be asked: \(error)"
        case .untrusted(let error): "the queue's record can't be trusted: \(error)"
        case .unheard(let error): "the reply can't be written: \(error)"
        case .ended(let end, nil): "nobody answered: \(end), and nothing was asked"
        case .ended(let end, .withdrawn(let id)?):
            "nobody answered: \(end), and alert \(id) was withdrawn"
        case .ended(let end, .left(let id)?):
            "\(end) before it had an answer; the log has what became of alert \(id)"
        case .ended(let end, .unknown?): "nobody answered: \(end)"
        }
    }
}

/// The options of the hooks.
package struct HookOptions: Sendable {
    /// What an agent is told when nobody has answered.
    package enum Unanswered: String, Sendable, CaseIterable {
        case prompt, deny
    }

    /// What becomes of a request while nobody is at any screen.
    package enum Unattended: String, Sendable, CaseIterable {
        case prompt, wait, deny
    }

    package var source: String?
    package var wait = Duration.seconds(540)
    package var priority = Alert.Priority.normal
    package var presenters: [String] = []
    package var ifUnanswered: Unanswered?
    package var ifUnattended: Unattended?
    package var needsPerson = false

    package init() {}
}
