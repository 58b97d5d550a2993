import AlertQueue
import FoundationEssentials

/// `alertq wait ID…`: waits until the first of some alerts has its response.
package struct WaitCommand: Command {
    package static let name = "wait"
    package static let abstract = "Wait until the first of some alerts has its response"
    package static let operands = ["ID", "[ID...]"]
    package static let options = [CollectCommand.waitFor]
    package static let discussion = [
        """
        With one ID it prints and exits as the ask would: the chosen button's id and 0, or 10 for \
        the cancel button; 11 dismissed, 12 expired, 13 withdrawn, 17 cancelled by the system; 15 \
        when --wait-for has passed, and 66 for an alert that does not exist.
        """,
        """
        With several it prints the id of the alert whose response came first, a tab, and the \
        button's id, or nothing after the tab where no button was chosen; control characters in \
        an id are replaced. It exits as the ask for that alert would. At most 100 can be given. To \
        wait for the next one, leave this one out. If some have their \
        responses already, it prints the oldest of them at once.
        """,
        """
        What it has printed of this account's alerts counts as collected, as with ask, unless it \
        is left to a named handler. The responses to other accounts' alerts are left to them. An \
        interruption withdraws nothing.
        """,
        DateText.future,
    ]

    /// Each takes a lock, so that no hook runs for a response that is waited for.
    private static let maximum = 100

    private let queue: QueueChoice
    private let ids: [Alert.ID]
    private let waitFor: Alert.Deadline?
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        ids = try Self.ids(arguments.operands)
        waitFor = try arguments.value(CollectCommand.waitFor) { text throws(UsageError) in
            try DateText.deadline(text, now: Date())
        }
        isJSON = arguments.has(.json)
    }

    private static func ids(_ words: [String]) throws(UsageError) -> [Alert.ID] {
        var ids: [Alert.ID] = []
        for word in words {
            let id = try Arguments.alertID(word)
            guard !ids.contains(id) else { throw UsageError("alert \(id) is given twice") }
            ids.append(id)
        }
        guard ids.count <= maximum else {
            throw UsageError("\(ids.count) alerts are too many; give at most \(maximum)")
        }
        return ids
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await queue.open(with: ids[0], via: Self.name) { manager in
            var records: [AlertRecord] = []
            for id in ids { records.append(try await manager.record(id)) }
            var telling = ResultTelling(verb: Self.name, isJSON: isJSON, context: context)
            telling.namesAlert = ids.count > 1
            if let first = Self.first(of: records) { return try await telling.tell(first, manager) }
            let signals = SignalWatch(stops: false)
            let claims = records.filter(\.isOwn).compactMap(manager.claimResponse)
            defer { for claim in claims { claim.end() } }
            let wait = AlertWait(
                manager: manager, records: records, context: context,
                limit: waitFor?.distance(from: context.now()), terminal: nil, signals: signals)
            switch try await wait.end() {
            case .resolved(let record, let isTold):
                if let asked = records.first(where: { $0.id == record.id }) {
                    try record.check(isThatOf: asked)
                }
                return try await telling.tell(record, isTold: isTold, manager)
            case .timeUp: return try await telling.tellWaiting(ids, manager)
            case .interrupted(let signal): throw Interruption(signal: signal)
            }
        }
    }

    /// The one whose response is the oldest; `nil` if all still wait.
    package static func first(of records: [AlertRecord]) -> AlertRecord? {
        records.filter { $0.response != nil }.min { left, right in
            guard let one = left.response?.resolvedAt, let other = right.response?.resolvedAt,
                one != other
            else { return left.id < right.id }
            return one < other
        }
    }
}
