import AlertQueue
import FoundationEssentials

/// `alertq collect KEY`: takes the response of an earlier ask.
package struct CollectCommand: Command {
    package static let name = "collect"
    package static let abstract = "Take the response of an earlier ask, by its key"
    package static let operands = ["KEY"]
    package static let options = [source, waitFor]
    package static let discussion = [
        """
        It prints and exits as the ask would: the chosen button's id and 0, or 10 for the cancel \
        button; 11 dismissed, 12 expired, 13 withdrawn, 17 cancelled by the system; 15 when there \
        is no response yet, and 66 when nothing was asked with this key. A response counts as \
        collected once it has been written to stdout. Collecting it again prints it again.
        """,
        """
        Keys belong to the user and the source that asked. Unlike asking again with the same key, \
        it needs no text, shows nothing, and never asks.
        """,
        DateText.future,
    ]

    static let source = Option(
        "source", "NAME", help: "Who asked; else $ALERTQ_SOURCE, else “alertq”")
    static let waitFor = Option(
        "wait-for", "TIME", help: "Wait for the response so long, or until then")

    private let queue: QueueChoice
    private let key: String
    private let source: String?
    private let waitFor: Alert.Deadline?
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        key = arguments.operands[0]
        source = arguments[Self.source]
        waitFor = try arguments.value(Self.waitFor) { text throws(UsageError) in
            try DateText.deadline(text, now: Date())
        }
        isJSON = arguments.has(.json)
    }

    package func run(in context: Context) async throws -> ExitCode {
        let source = try source ?? context.variables("ALERTQ_SOURCE") ?? "alertq"
        let code = try await queue.openExisting(via: Self.name, source: source) { manager in
            let record = try await record(of: source, manager)
            let telling = ResultTelling(verb: Self.name, isJSON: isJSON, context: context)
            if record.response != nil { return try await telling.tell(record, manager) }
            guard let waitFor else { return try await telling.tellWaiting(record.id, manager) }
            // From here on an interruption only ends the wait.
            let signals = SignalWatch(stops: false)
            let claim = manager.claimResponse(to: record)
            defer { claim?.end() }
            let wait = AlertWait(
                manager: manager, record: record, context: context,
                limit: waitFor.distance(from: context.now()), terminal: nil, signals: signals)
            switch try await wait.end() {
            case .resolved(let record, let isTold):
                return try await telling.tell(record, isTold: isTold, manager)
            case .timeUp: return try await telling.tellWaiting(record.id, manager)
            case .interrupted(let signal): throw Interruption(signal: signal)
            }
        }
        guard let code else { throw notAsked(of: source) }
        return code
    }

    private func record(
        of source: String, _ manager: AlertManager
    ) async throws -> AlertRecord {
        do {
            return try await manager.record(key: key)
        } catch AlertError.keyNotFound {
            throw notAsked(of: source)
        }
    }

    private func notAsked(of source: String) -> CommandError {
        CommandError(
            .notFound,
            "“\(source)” has asked nothing with the key “\(key)”; --source names who asked")
    }
}
