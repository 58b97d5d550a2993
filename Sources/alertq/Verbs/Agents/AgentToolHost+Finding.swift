import AlertQueue

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
