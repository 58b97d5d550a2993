import AlertQueue
import Glibc

/// What `ask` and `notify` do once their options are known.
package struct AskSession: Sendable {
    let verb: String
    let question: AlertOptions
    let queue: QueueChoice
    let waits: Bool
    let isJSON: Bool
    let context: Context

    package func run() async throws -> ExitCode {
        let alert = try question.complete(in: context)
        let terminal = waits ? ControllingTerminal() : nil
        // From here on an interruption must not leave an alert that nobody waits for.
        let signals = waits ? SignalWatch(stops: terminal != nil) : nil
        return try await queue.open(via: verb, source: alert.source) { manager in
            if try await mustFail(alert, terminal, manager) { return try refuse(alert) }
            let (record, isJoined) = try await submit(alert, manager)
            if isJoined { tellIgnored(record) }
            guard let signals else { return try tellID(record) }
            guard record.response == nil else { return try await tell(record, manager) }
            let wait = AlertWait(
                manager: manager, record: record, context: context,
                limit: question.waitFor?.distance(from: context.now()),
                terminal: terminal, signals: signals)
            switch try await wait.end() {
            case .resolved(let record, let isTold):
                return try await tell(record, isTold: isTold, manager)
            case .timeUp:
                return try await tellWaiting(record.id, manager)
            case .interrupted(let signal):
                await giveUp(record, manager)
                throw Interruption(signal: signal)
            }
        }
    }
}

// MARK: - Asking

extension AskSession {
    private func submit(
        _ alert: Alert, _ manager: AlertManager
    ) async throws -> (record: AlertRecord, isJoined: Bool) {
        do {
            return try await manager.submit(alert)
        } catch AlertError.keyConflict(let key, let id, let part) {
            if isJSON { try context.print(AlertJSON.line(try await manager.record(id))) }
            throw AlertError.keyConflict(key, id, part: part)
        }
    }

    /// Whether nobody would see the alert, and that is a failure. A key may belong to an alert
    /// that has its response already: then there is nobody to look for.
    private func mustFail(
        _ alert: Alert, _ terminal: ControllingTerminal?, _ manager: AlertManager
    ) async throws -> Bool {
        guard question.failsIfUnattended else { return false }
        if let terminal, terminal.isForeground { return false }
        guard manager.slotHolder() == nil else { return false }
        guard let key = alert.key else { return true }
        do {
            return try await manager.record(key: key).response == nil
        } catch AlertError.keyNotFound {
            return true
        }
    }

    private func refuse(_ alert: Alert) throws -> ExitCode {
        if isJSON {
            let source = alert.source ?? ""
            try context.print(AlertJSON.line(unasked: alert, source: source))
        }
        context.note("\(verb): there is nobody to ask; nothing was stored")
        return .unattended
    }

    /// Takes the alert back, or leaves it to the next command with its key.
    private func giveUp(_ record: AlertRecord, _ manager: AlertManager) async {
        guard record.alert.key == nil else {
            context.note("alert \(record.id) stays in the queue; the same command joins it again")
            return
        }
        do {
            _ = try await manager.withdraw(record.id)
            context.note("alert \(record.id) was withdrawn")
        } catch {
            context.note("\(verb): \(error)")
        }
    }
}

// MARK: - Telling

extension AskSession {
    private func tellID(_ record: AlertRecord) throws -> ExitCode {
        do {
            try context.print(isJSON ? AlertJSON.line(record) : "\(record.id)")
        } catch {
            // Who asked must be able to find it again, or to take it back.
            context.note("\(verb): the alert is stored as \(record.id), and stays in the queue")
            throw error
        }
        return .done
    }

    /// Says which options mean nothing because the alert was asked before, with others.
    private func tellIgnored(_ record: AlertRecord) {
        guard record.response == nil else { return }
        let options = question.ignored(by: record)
        guard !options.isEmpty else { return }
        context.note(
            "alert \(record.id) was asked before, and keeps what it was asked with: "
                + options.joined(separator: "; "))
    }

    private func tellWaiting(
        _ id: Alert.ID, _ manager: AlertManager
    ) async throws -> ExitCode {
        if isJSON { try context.print(AlertJSON.line(try await manager.record(id))) }
        context.note("alert \(id) still waits")
        return .stillWaiting
    }

    /// Prints the result, and only then marks it as collected: what did not reach stdout is offered
    /// again.
    private func tell(
        _ record: AlertRecord, isTold: Bool = false, _ manager: AlertManager
    ) async throws -> ExitCode {
        guard let response = record.response else {
            throw AlertError.storage(
                operation: "read the response to alert \(record.id)", "there is none")
        }
        let result = AskResult(response)
        do {
            if isJSON {
                try context.print(AlertJSON.line(record))
            } else if let button = result.button {
                // A program gets the id as it is; a terminal might obey it.
                try context.print(context.output.isTerminal ? SafeText.line(button) : button)
            }
        } catch {
            context.note("\(verb): alert \(record.id) was \(response.summary)")
            throw error
        }
        if result.code == .notFound {
            context.note("\(verb): the texts of alert \(record.id) have been erased")
        } else if !isTold, isWorthTelling(response, result) {
            context.note("alert \(record.id) was \(response.summary)")
        }
        if response.collectedAt == nil {
            do {
                try await manager.collect(record.id)
            } catch {
                // The result is out and true; at worst it is offered once more.
                context.note("\(verb): the response could not be marked as collected: \(error)")
            }
        }
        return verb == NotifyCommand.name && result.code == .dismissed ? .done : result.code
    }

    /// Whether somebody needs to read how the alert ended: without a button always, for stdout says
    /// nothing then; with one at a terminal, where another process chose it.
    private func isWorthTelling(_ response: Response, _ result: AskResult) -> Bool {
        if verb == NotifyCommand.name, result.code == .dismissed { return false }
        if result.button == nil { return true }
        return context.errors.isTerminal && response.responder?.pid != getpid()
    }
}
