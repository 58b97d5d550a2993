import AlertQueue
import TextFormats

/// How the verbs that hand a response to its asker print it, and what they exit with.
struct ResponsePrinter: Sendable {
    let verb: String
    let isJSON: Bool
    let context: Context
    /// Whether the result begins with the alert's id, because it could belong to one of several.
    var namesAlert = false
    /// Whether a response that belongs to a named handler is collected too.
    var takesHandled = false

    /// Prints that there is no response yet.
    func printWaiting(_ records: [AlertRecord]) throws -> ExitCode {
        if isJSON { for record in records { try context.print(AlertJSON.line(record)) } }
        let list = records.map { "\($0.id)" }.joined(separator: ", ")
        context.inform(
            records.count == 1 ? "alert \(list) still waits" : "alerts \(list) still wait")
        return .stillWaiting
    }

    /// Prints how a wait for some alerts has ended.
    ///
    /// - Throws: ``Interruption`` where a signal has ended it.
    func print(
        _ end: AlertWait.End, of records: [AlertRecord], _ manager: AlertManager
    ) async throws -> ExitCode {
        switch end {
        case .resolved(let record, let isPrinted):
            if let asked = records.first(where: { $0.id == record.id }) {
                try record.check(isThatOf: asked)
            }
            return try await print(record, isPrinted: isPrinted, manager)
        case .timeUp:
            // The server may have been away meanwhile, or the response have come just now.
            var newest: [AlertRecord] = []
            for record in records { newest.append(try await manager.record(record.id)) }
            guard let resolved = WaitCommand.first(of: newest) else {
                return try printWaiting(newest)
            }
            return try await print(.resolved(resolved, isPrinted: false), of: records, manager)
        case .interrupted(let signal): throw Interruption(signal: signal)
        }
    }

    /// Prints the result, and only then marks it as collected: a result that did not reach stdout
    /// is offered again.
    func print(
        _ record: AlertRecord, isPrinted: Bool = false, _ manager: AlertManager
    ) async throws -> ExitCode {
        // An expiry is printed once it is on disk, like any response.
        let record = try await manager.settled(record)
        guard let response = record.response else {
            throw AlertError.storage(
                operation: "read the response to alert \(record.id)", "there is none")
        }
        guard !response.isStale else {
            context.note("\(verb): \(AlertError.stale(record))")
            if response.collectedAt == nil {
                await collect(record, manager, because: .stale)
            }
            return .stale
        }
        let result = AskResult(response)
        var ending = record.ending(context.noteTime)
        if response.outcome == .withdrawn, let reason = response.note {
            ending += ": " + SafeText.line(reason)
        }
        do {
            if isJSON {
                try context.print(AlertJSON.line(record))
            } else if result.button != nil || namesAlert {
                let button = result.button ?? ""
                // A program gets the id as it is, unless an alert of an older version has one with
                // control characters: it is one line.
                let isExact =
                    !context.output.isTerminal
                    && !button.unicodeScalars.contains(where: \.isControl)
                let shown = isExact ? button : SafeText.line(button)
                let lines = [shown] + (result.button == nil ? [] : values(of: record, response))
                try context.print(
                    lines.map { namesAlert ? "\(record.id)\t\($0)" : $0 }.joined(separator: "\n"))
            }
        } catch {
            context.note("\(verb): alert \(record.id): \(ending)")
            throw error
        }
        if record.isErased {
            context.inform(
                "alert \(record.id): \(ending); its texts have been erased")
        } else if !isPrinted, isWorthNoting(response, result) {
            context.inform("alert \(record.id): \(ending)")
        }
        if response.collectedAt == nil { await collect(record, manager) }
        return verb == NotifyCommand.name && result.code == .dismissed ? .done : result.code
    }

    /// The lines for what was entered: the fields' ids and values, and the note without an id.
    private func values(of record: AlertRecord, _ response: Response) -> [String] {
        let values = record.alert.fields.compactMap { field in
            response.values[field.id].map { "\(field.id)\t\(Self.column($0.text))" }
        }
        let lines = values + (response.note.map { ["\t" + Self.column($0)] } ?? [])
        guard context.output.isTerminal else { return lines }
        return lines.map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false)
                .map { SafeText.line(String($0)) }.joined(separator: "\t")
        }
    }

    /// A text as a column of a line: as PostgreSQL's `COPY` writes it,
    /// <https://www.postgresql.org/docs/current/sql-copy.html>, and other control characters, some of
    /// which end a line for some programs, as JSON does.
    private static func column(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { line, scalar in
            switch scalar {
            case "\\": line += "\\\\"
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case _ where scalar.isControl:
                let digits = String(scalar.value, radix: 16)
                line += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: line.unicodeScalars.append(scalar)
            }
        }
    }

    private func collect(
        _ record: AlertRecord, _ manager: AlertManager, because reason: EntryReason? = nil
    ) async {
        if let handler = record.alert.handler, !takesHandled {
            context.inform(
                "the response to alert \(record.id) is left to the handler “\(handler)”, which "
                    + "collects it")
            return
        }
        // Its asker is another account's program, which has not received it yet.
        if !record.isOwn {
            guard verb != WaitCommand.name, manager.mayCollect(record) else {
                if verb == CollectCommand.name {
                    context.note(
                        "the response to alert \(record.id) is left to the account that asked")
                }
                return
            }
        }
        do {
            try await manager.collect(record.id, because: reason)
        } catch {
            // The result has been printed, and is true; at worst it is offered once more.
            context.note("\(verb): the response could not be marked as collected: \(error)")
        }
    }

    /// Whether to print how the alert ended: without a button always, because stdout is empty then;
    /// with one where no person chose it, or, at a terminal, where another process did.
    private func isWorthNoting(_ response: Response, _ result: AskResult) -> Bool {
        if verb == NotifyCommand.name, result.code == .dismissed { return false }
        if result.button == nil || response.by != .person { return true }
        return context.errors.isTerminal && response.responder?.process?.isCurrent != true
    }
}
