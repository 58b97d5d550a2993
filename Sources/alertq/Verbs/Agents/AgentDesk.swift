import AlertQueue
import Glibc
import Synchronization

/// Carries out what agents ask for, on a queue.
///
/// Agents reach only alerts of their own source and account. A response counts as collected once
/// the reply with it has been written.
final class AgentDesk: ToolHost {
    private let queue: AgentQueue
    private let source: String?
    private let wait: AgentWait
    private let context: Context

    /// - Parameters:
    ///   - source: The asker's name instead of the clients' names.
    ///   - wait: How long a call waits for a response.
    init(queue: QueueChoice, source: String?, wait: Duration, context: Context) {
        self.queue = AgentQueue(queue)
        self.source = source
        self.wait = AgentWait(limit: wait)
        self.context = context
    }

    var tools: [Tool] { AgentTools.all }

    func close() async { await queue.close() }

    func reply(to call: ToolCall) async throws(ProtocolError) -> ToolReply? {
        do {
            let manager = try await queue.manager()
            do {
                return try await reply(to: call, manager)
            } catch {
                await queue.note(error, of: manager)
                throw error
            }
        } catch {
            guard call.end == nil || call.end == .serverEnds else { return nil }
            return ToolReply(content: .result(AgentFailure(error).result))
        }
    }

    private func reply(to call: ToolCall, _ manager: AlertManager) async throws -> ToolReply? {
        let source = source(of: call.client)
        guard let tool = tools.first(where: { $0.name == call.name }) else {
            throw AgentFailure(.invalid, "there is no tool “\(call.name)”")
        }
        let arguments = try AgentArguments(call.arguments, of: tool)
        switch tool.name {
        case AgentTools.ask.name:
            let record = try await ask(try arguments.question(), arguments, source, manager)
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

    /// Who asks, for the record: the name that was given to this process, or the client's.
    private func source(of client: RequestContext) -> String {
        if let source { return source }
        var name = String((client.clientName ?? "").prefix(Alert.Limit.name))
        name.unicodeScalars.removeAll { $0.properties.generalCategory == .control }
        let prefix = MCPCommand.name + ":"
        while prefix.utf8.count + name.utf8.count > Alert.Limit.name { name.removeLast() }
        let isBlank = name.unicodeScalars.allSatisfy(\.properties.isWhitespace)
        return isBlank ? MCPCommand.name : prefix + name
    }
}

// MARK: - Tools

extension AgentDesk {
    /// Stores a question, or joins the one that waits.
    private func ask(
        _ question: Alert, _ arguments: AgentArguments, _ source: String, _ manager: AlertManager
    ) async throws -> AlertRecord {
        var alert = question
        alert.source = source
        guard alert.key == nil else { return try await manager.submit(alert).record }
        try alert.validate()
        // Agents of one kind work in several directories, and mean different things there.
        let place = QueueChoice.absolute("")
        let key = DerivedKey(MCPCommand.name, of: [place] + (try arguments.parts()))
        for _ in 1...10 {
            alert.key = try await key.current(manager, of: source)
            let (record, isJoined) = try await manager.submit(alert)
            // Another call may have collected the response in the meantime.
            guard isJoined, record.response?.collectedAt != nil else { return record }
        }
        throw AlertError.busy("others are asking the same question, and taking its answers")
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

    private func list(
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
        var filter = HistoryFilter(source: source)
        filter.uncollected = true
        let answers = try await manager.history(filter, limit: 1000)
        return ToolReply(
            content: .result(
                AgentResult.list(
                    waiting: Array(waiting.filter(\.isOwn).prefix(limit)),
                    answers: Array(answers.filter(\.isOwn).prefix(limit)), limit: limit)))
    }

    /// Finds an alert, if this agent has asked it.
    private func own(
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

    private func own(
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

// MARK: - Responses

extension AgentDesk {
    /// The response to an alert, once there is one or the call has waited for long enough.
    private func response(
        to record: AlertRecord, _ call: ToolCall, _ manager: AlertManager
    ) async throws -> ToolReply? {
        if record.response != nil {
            return delivery(of: try await manager.settled(record), manager)
        }
        let claim = await manager.claimResponse(to: record)
        do {
            if let resolved = try await wait.resolution(of: record, call, manager) {
                try resolved.check(isThatOf: record)
                return delivery(of: try await manager.settled(resolved), manager, claim)
            }
        } catch {
            claim?.end()
            throw error
        }
        claim?.end()
        switch call.end {
        case .timedOut?: return nil
        case .cancelled?:
            if !wait.isAwaited(record.id) { await takeBack(record, manager) }
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
            await takeBack(record, manager)
        }
    }

    /// A reply with a response, which is collected once the client has it.
    private func delivery(
        of record: AlertRecord, _ manager: AlertManager, _ claim: (any HandlerTurn)? = nil
    ) -> ToolReply {
        ToolReply(content: .result(AgentResult.resolved(record))) { [self] isWritten in
            if isWritten { await collect(record, manager) }
            claim?.end()
        }
    }

    private func collect(_ record: AlertRecord, _ manager: AlertManager) async {
        guard record.response?.collectedAt == nil, record.alert.handler == nil else { return }
        // In a task of its own, because the server may be ending that of the call.
        await Task {
            do {
                try await manager.collect(record.id)
            } catch {
                // The client has it, and it is true; at worst it is offered once more.
                note("the response to alert \(record.id) is not marked as collected: \(error)")
            }
        }.value
    }

    /// Withdraws an alert whose call was cancelled.
    private func takeBack(_ record: AlertRecord, _ manager: AlertManager) async {
        // In a task of its own, because that of the call is cancelled.
        await Task {
            do {
                try await manager.withdraw(record.id)
            } catch AlertError.alreadyResolved, AlertError.late {
                // The response stays, and can be collected.
            } catch {
                note("alert \(record.id) could not be withdrawn, and stays: \(error)")
            }
        }.value
    }

    private func note(_ line: String) { context.note("\(MCPCommand.name): \(line)") }
}

// MARK: - Tasks

extension AgentDesk {
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
        await takeBack(record, manager)
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
