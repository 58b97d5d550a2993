import AlertQueue
import FoundationEssentials

/// `alertq collect KEY` or `alertq collect --id ID`: takes the response of an earlier ask.
package struct CollectCommand: Command {
    package static let name = "collect"
    package static let abstract = "Take the response of an earlier ask, by its key or its id"
    package static let operands = ["[KEY]"]
    package static let options = [id, source, waitFor, handled]
    package static let discussion = [
        """
        It prints and exits as the ask would: the chosen button's id and 0, or 10 for the cancel \
        button; 11 dismissed, 12 expired, 13 withdrawn, 17 cancelled by the system; 15 when there \
        is no response yet, and 66 when nothing was asked with this key, or under this id. A \
        response counts as collected once it has been written to stdout. Collecting it again \
        prints it again.
        """,
        """
        Keys belong to the user and the source that asked; with --id it takes the response of any \
        alert, as ask --detach prints its id. Unlike asking again with the same key, it needs no \
        text, shows nothing, and never asks.
        """,
        """
        A response that belongs to a named handler is printed but not collected. --handled \
        collects it too, for a program that will never run again. What another account asked is \
        printed, and collected by root alone.
        """,
        DateText.future,
    ]

    static let id = Option("id", "ID", .uncollectedAlert, help: "The alert, in place of a key")
    static let source = Option(
        "source", "NAME", help: "Who asked; else $ALERTQ_SOURCE, else “alertq”")
    static let waitFor = Option(
        "wait-for", "TIME", help: "Wait for the response so long, or until then")
    static let handled = Option(
        "handled", help: "Collect it although a named handler was to do so")

    /// What names the alert.
    private enum Name {
        case key(String)
        case id(Alert.ID)
    }

    private let queue: QueueChoice
    private let alert: Name
    private let source: String?
    private let waitFor: Alert.Deadline?
    private let takesHandled: Bool
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        alert = try Self.alert(arguments)
        source = arguments[Self.source]
        takesHandled = arguments.has(Self.handled)
        waitFor = try arguments.value(Self.waitFor) { text throws(UsageError) in
            try DateText.deadline(text, now: Date())
        }
        isJSON = arguments.has(.json)
    }

    private static func alert(_ arguments: Arguments) throws(UsageError) -> Name {
        let id = try arguments.value(id, Arguments.alertID)
        switch (arguments.operands.first, id) {
        case (let key?, nil): return .key(key)
        case (nil, let id?):
            guard !arguments.has(source) else {
                throw UsageError("--source is for a key, and means nothing with --id")
            }
            return .id(id)
        case (nil, nil): throw UsageError("expected KEY, or --id ID")
        case (_?, _?): throw UsageError("KEY and --id name two alerts; give one of them")
        }
    }

    package func run(in context: Context) async throws -> ExitCode {
        switch alert {
        case .id(let id):
            return try await queue.open(with: id, via: Self.name) { manager in
                try await collect(try await manager.record(id), manager, in: context)
            }
        case .key(let key):
            let source = try source ?? context.variables("ALERTQ_SOURCE") ?? "alertq"
            let code = try await queue.openExisting(via: Self.name, source: source) { manager in
                let record = try await record(of: source, key, manager)
                return try await collect(record, manager, in: context)
            }
            guard let code else { throw notAsked(of: source, key) }
            return code
        }
    }

    private func collect(
        _ record: AlertRecord, _ manager: AlertManager, in context: Context
    ) async throws -> ExitCode {
        var telling = ResultTelling(verb: Self.name, isJSON: isJSON, context: context)
        telling.takesHandled = takesHandled
        if record.response != nil { return try await telling.tell(record, manager) }
        guard let waitFor else { return try await telling.tellWaiting([record.id], manager) }
        // From here on an interruption only ends the wait.
        let signals = SignalWatch(stops: false)
        let claim = manager.claimResponse(to: record)
        defer { claim?.end() }
        let wait = AlertWait(
            manager: manager, records: [record], context: context,
            limit: waitFor.distance(from: context.now()), terminal: nil, signals: signals)
        switch try await wait.end() {
        case .resolved(let record, let isTold):
            return try await telling.tell(record, isTold: isTold, manager)
        case .timeUp: return try await telling.tellWaiting([record.id], manager)
        case .interrupted(let signal): throw Interruption(signal: signal)
        }
    }

    private func record(
        of source: String, _ key: String, _ manager: AlertManager
    ) async throws -> AlertRecord {
        do {
            return try await manager.record(key: key)
        } catch AlertError.keyNotFound {
            throw notAsked(of: source, key)
        }
    }

    private func notAsked(of source: String, _ key: String) -> CommandError {
        CommandError(
            .notFound,
            "“\(source)” has asked nothing with the key “\(key)”; --source names who asked")
    }
}
