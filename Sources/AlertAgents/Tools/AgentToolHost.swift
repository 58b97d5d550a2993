import AlertQueue
import Linux
import Synchronization
import TextFormats

/// Carries out what agents ask for, on a queue.
///
/// Agents reach only alerts of their own source and account. A response counts as collected once
/// the reply with it has been written.
final class AgentToolHost: ToolHost {
    private let queue: AgentQueue
    private let source: String?
    /// The program that has started this process.
    private let program = AskingProgram.current()
    private let wait: AgentWait
    private let context: AgentContext

    /// How long to wait for others that return the same response.
    private static let leasePatience = Duration.seconds(5)
    /// How long an answer that nobody has taken is one to the same question without a key. Later on,
    /// a person may not want the same any more.
    private static let reuse = Question.Reuse(within: .seconds(86_400), byDefault: true)

    /// - Parameters:
    ///   - source: The asker's name instead of the clients' names.
    ///   - wait: How long a call waits for a response.
    init(_ context: AgentContext, source: String?, wait: Duration) {
        queue = AgentQueue(open: context.open)
        self.source = source
        self.wait = AgentWait(limit: wait)
        self.context = context
    }

    var tools: [Tool] { AgentTools.all }

    func close() async { await queue.close() }

    func reply(to call: ToolCall) async throws(ProtocolError) -> ToolReply? {
        do {
            guard let tool = tools.first(where: { $0.name == call.name }) else {
                throw AgentFailure(.invalid, "there is no tool “\(call.name)”")
            }
            let arguments = try AgentArguments(call.arguments, of: tool)
            return await reply(to: call, arguments)?.ignoring(arguments.ignored)
        } catch {
            return ToolReply(content: .result(AgentFailure(error).result))
        }
    }

    private func reply(to call: ToolCall, _ arguments: AgentArguments) async -> ToolReply? {
        do {
            let manager = try await queue.manager()
            do {
                return try await reply(to: call, arguments, manager)
            } catch {
                await queue.discard(manager, after: error)
                throw error
            }
        } catch {
            guard call.end == nil || call.end == .serverEnds else { return nil }
            return ToolReply(content: .result(AgentFailure(error).result))
        }
    }

    private func reply(
        to call: ToolCall, _ arguments: AgentArguments, _ manager: AlertManager
    ) async throws -> ToolReply? {
        let source = source(of: call.client)
        switch call.name {
        case AgentTools.ask.name:
            let question = try arguments.question()
            let (record, lease) = try await ask(question, arguments, source, manager)
            if let lease { return delivery(of: record, manager, lease) }
            if call.client.takesTasks, record.response == nil, call.end == nil,
                let task = AgentResult.task(record)
            {
                return pending(.task(task), record, call, manager)
            }
            return try await response(to: record, call, manager)
        case AgentTools.collect.name:
            let record = try await own(try arguments.subject(), source, manager)
            return try await response(to: record, call, manager)
        case AgentTools.notify.name:
            var notice = try arguments.notice()
            notice.source = source
            let record = try await manager.submit(notice).record
            guard record.response == nil else {
                return delivery(of: try await manager.settled(record), manager)
            }
            return pending(.result(AgentResult.stored(record)), record, call, manager)
        case AgentTools.withdraw.name:
            let record = try await own(try arguments.subject(), source, manager)
            return try await withdraw(record, manager)
        default:
            return try await list(try arguments.limit(), source, manager)
        }
    }

    /// Who asks, for the record: the name that was given to this process, or the client's, or that
    /// of its program if a library has named the client.
    private func source(of client: RequestContext) -> String {
        if let source { return source }
        let said = client.clientName ?? ""
        let told = AskingProgram.isTold(by: said) ? said : program ?? said
        var name = String(told.prefix(Alert.Limit.name))
        name.unicodeScalars.removeAll { $0.properties.generalCategory == .control }
        let prefix = AgentServer.name + ":"
        while prefix.utf8.count + name.utf8.count > Alert.Limit.name { name.removeLast() }
        let isBlank = name.unicodeScalars.allSatisfy(\.properties.isWhitespace)
        return isBlank ? AgentServer.name : prefix + name
    }
}

// MARK: - Tools

extension AgentToolHost {
    /// Stores a question, or joins the one that waits; or takes a lease on its response for this call
    /// alone.
    private func ask(
        _ question: Alert, _ arguments: AgentArguments, _ source: String, _ manager: AlertManager
    ) async throws -> (AlertRecord, (any AlertLease)?) {
        var alert = question
        alert.source = source
        let replaces = try arguments.replaces()
        guard alert.key == nil else {
            return (try await store(alert, replacing: replaces, manager), nil)
        }
        try alert.validate()
        // Agents of one kind work in several directories, and mean different things there.
        let place = LinuxFile.workingDirectory.map { $0 + "/" } ?? ""
        alert.key = Question.stem(AgentServer.name, of: [place, try arguments.identity()])
        for _ in 1...10 {
            let asked = try await manager.submit(alert, join: .numbered(Self.reuse))
            guard asked.record.response != nil else { return (asked.record, nil) }
            // Another call, or another server, may be returning it to its client.
            guard let lease = try await asked.lease(within: Self.leasePatience) else {
                return (asked.record, nil)
            }
            let record = try await manager.settled(try await manager.record(asked.record.id))
            if record.response?.collectedAt == nil { return (record, lease) }
            lease.end()
        }
        throw AlertError.busy("others are asking the same question, and taking its answers")
    }

    private func store(
        _ alert: Alert, replacing: Bool, _ manager: AlertManager
    ) async throws -> AlertRecord {
        do {
            return try await manager.submit(
                alert, join: replacing ? .replacing : .same
            ).record
        } catch {
            guard case .alreadyResolved(let response) = error else { throw error }
            throw AgentFailure(
                .conflict,
                "Your question was not asked: alert \(response.alertID), which it was to replace, "
                    + "has an answer. Call collect with that id to get it.")
        }
    }

    private func withdraw(
        _ record: AlertRecord, _ manager: AlertManager
    ) async throws -> ToolReply {
        do {
            return delivery(of: try await manager.withdraw(record.id), manager)
        } catch AlertError.alreadyResolved, AlertError.late {
            let record = try await manager.record(record.id)
            return delivery(of: try await manager.settled(record), manager)
        }
    }
}

// MARK: - Responses

extension AgentToolHost {
    /// The response to an alert, once there is one or the call has waited for long enough.
    private func response(
        to record: AlertRecord, _ call: ToolCall, _ manager: AlertManager
    ) async throws -> ToolReply? {
        if record.response != nil {
            return delivery(of: try await manager.settled(record), manager)
        }
        let lease = await manager.leaseResponse(to: record)
        do {
            if let resolved = try await wait.resolution(of: record, call, manager) {
                try resolved.check(isThatOf: record)
                return delivery(of: try await manager.settled(resolved), manager, lease)
            }
        } catch {
            lease?.end()
            throw error
        }
        lease?.end()
        switch call.end {
        case .unawaited?: return nil
        case .cancelled?:
            if !wait.isAwaited(record.id) { await withdrawCancelled(record, manager) }
            return nil
        case .serverEnds?, nil:
            let isAttended = await manager.screens().all.contains(where: \.isThere)
            let result = AgentResult.waiting(record, isAttended: isAttended, wait: wait.limit)
            return pending(.result(result), record, call, manager)
        }
    }

    /// A reply about an alert that waits, which is withdrawn if the client cancels the call before
    /// it has the reply.
    private func pending(
        _ content: ToolReply.Content, _ record: AlertRecord, _ call: ToolCall,
        _ manager: AlertManager
    ) -> ToolReply {
        ToolReply(content: content) { [self] isWritten in
            guard !isWritten, call.end == .cancelled, !wait.isAwaited(record.id) else { return }
            await withdrawCancelled(record, manager)
        }
    }

    /// A reply with a response, which is collected once the client has it.
    private func delivery(
        of record: AlertRecord, _ manager: AlertManager, _ lease: (any AlertLease)? = nil
    ) -> ToolReply {
        ToolReply(content: .result(AgentResult.resolved(record))) { [self] isWritten in
            if isWritten { await collect(record, manager) }
            lease?.end()
        }
    }

    private func collect(_ record: AlertRecord, _ manager: AlertManager) async {
        guard record.response?.collectedAt == nil, record.alert.handler == nil else { return }
        // In a task of its own, because the server may be ending that of the call.
        await Task {
            do {
                let isStale = record.response?.isStale == true
                try await manager.collect(record.id, because: isStale ? .stale : nil)
            } catch {
                // The client has it, and it is true; at worst it is offered once more.
                note("the response to alert \(record.id) is not marked as collected: \(error)")
            }
        }.value
    }

    /// Withdraws an alert whose call was cancelled.
    private func withdrawCancelled(_ record: AlertRecord, _ manager: AlertManager) async {
        // In a task of its own, because that of the call is cancelled.
        await Task {
            do {
                try await withdrawUnlessResolved(record, manager)
            } catch {
                note("alert \(record.id) could not be withdrawn, and stays: \(error)")
            }
        }.value
    }

    private func withdrawUnlessResolved(
        _ record: AlertRecord, _ manager: AlertManager
    ) async throws(AlertError) {
        do {
            try await manager.withdraw(record.id)
        } catch {
            switch error {
            case .alreadyResolved, .late: break  // The response stays, and can be collected.
            default: throw error
            }
        }
    }

    private func note(_ line: String) { context.note(line) }
}

// MARK: - Tasks

extension AgentToolHost {
    func task(_ id: String, of client: RequestContext) async throws(ProtocolError) -> ToolReply {
        let (record, manager) = try await alert(ofTask: id, client)
        guard let task = AgentResult.task(record) else { throw Self.unknownTask }
        guard record.response != nil else { return ToolReply(content: .task(task)) }
        return ToolReply(content: .task(task)) { [self] isWritten in
            if isWritten { await collect(record, manager) }
        }
    }

    func cancelTask(_ id: String, of client: RequestContext) async throws(ProtocolError) {
        let (record, manager) = try await alert(ofTask: id, client)
        do {
            try await withdrawUnlessResolved(record, manager)
        } catch {
            throw ProtocolError(
                .internalError,
                "the task could not be cancelled: \(error); it stays, so try again")
        }
    }

    private static let unknownTask = ProtocolError(
        .invalidParameters, "there is no task with this “taskId”, or its texts have been erased")

    private func alert(
        ofTask id: String, _ client: RequestContext
    ) async throws(ProtocolError) -> (AlertRecord, AlertManager) {
        do {
            let manager = try await queue.manager()
            guard let (number, seen) = AgentResult.alert(ofTask: id),
                let record = try await own(number, source(of: client), manager),
                record.seen == seen
            else { throw Self.unknownTask }
            return (try await manager.settled(record), manager)
        } catch {
            if let error = error as? ProtocolError { throw error }
            throw ProtocolError(
                .internalError,
                "the queue can't be reached: \(error); the task stays, so try again")
        }
    }
}

// What an agent may find: the alerts of its own source and account.
extension AgentToolHost {
    /// What waits, and what has ended and nobody has collected.
    func list(
        _ limit: Int, _ source: String, _ manager: AlertManager
    ) async throws -> ToolReply {
        var waiting: [AlertRecord] = []
        // Another account may use the same source.
        repeat {
            let page = try await manager.pending(
                source: source, after: waiting.last?.id, limit: 1000)
            waiting += page
            if page.count < 1000 { break }
        } while waiting.count(where: \.isOwn) < limit
        return ToolReply(
            content: .result(
                AgentResult.list(
                    waiting: Array(waiting.filter(\.isOwn).prefix(limit)),
                    answers: try await answers(limit, source, manager), limit: limit)))
    }

    /// The newest answers that nobody has collected.
    private func answers(
        _ limit: Int, _ source: String, _ manager: AlertManager
    ) async throws -> [AlertRecord] {
        let filter = HistoryFilter(source: source, uncollected: true)
        var answers: [AlertRecord] = []
        var last: Alert.ID?
        repeat {
            let page = try await manager.history(filter, limit: 1000, after: last)
            // A notice has no answer that anybody would collect.
            answers += page.filter { $0.isOwn && !$0.alert.buttons.isEmpty }
            last = page.count < 1000 ? nil : page.last?.id
        } while last != nil && answers.count < limit
        return Array(answers.prefix(limit))
    }

    /// Finds an alert, if this agent has asked it.
    func own(
        _ subject: AgentArguments.Subject, _ source: String, _ manager: AlertManager
    ) async throws -> AlertRecord {
        switch subject {
        case .key(let key):
            do {
                return try await manager.record(key: key, of: source)
            } catch AlertError.keyNotFound {
                throw AgentFailure(
                    .notFound,
                    "“\(source)” has asked nothing with the key “\(key.prefix(300))”; "
                        + "list_mine lists what it has asked")
            }
        case .id(let id):
            guard let record = try await own(id, source, manager) else {
                throw AgentFailure(
                    .notFound,
                    "“\(source)” has asked no alert \(id); list_mine lists what it has "
                        + "asked")
            }
            return record
        }
    }

    func own(
        _ id: Alert.ID, _ source: String, _ manager: AlertManager
    ) async throws(AlertError) -> AlertRecord? {
        do throws(AlertError) {
            let record = try await manager.record(id)
            return record.isOwn && record.source.name.isIdentical(to: source) ? record : nil
        } catch {
            guard case .notFound = error else { throw error }
            return nil
        }
    }
}
