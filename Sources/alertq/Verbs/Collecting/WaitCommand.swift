import AlertQueue
import TextFormats

/// `alertq wait ID…`: waits for the first response among some alerts.
struct WaitCommand: CollectingCommand {
    static let name = "wait"
    static let abstract = "Wait for the first response among some alerts"
    static let operands: [Operand<Self>] = [
        Operand(.alertID, \.$first), Operand(.alertID, each: \.others),
    ]
    static let options: [Option<Self>] = [.waitFor]
    static let discussion = [
        """
        With one ID it prints and exits as the ask would: it prints the chosen button's id and \
        exits with 0, or 10 for the cancel button; \(ExitCode.list(ExitCode.endsWithoutButton)); \
        15 when --wait-for has passed, 18 if the answer is stale, because ask --valid was given, and 66 if the alert does not exist. The values of fields and the note follow the button's id, one \
        a line.
        """,
        """
        With several IDs it prints the id of the alert whose response came first, a tab, and the \
        button's id, or nothing after the tab if no button was chosen; control characters in the \
        button's id are replaced. It exits as the ask for that alert would. At most 100 IDs can be \
        given. To wait for the next response, leave out that alert's ID. If some alerts already \
        have their responses, the oldest response is printed at once.
        """,
        """
        A printed response to an alert of this account counts as collected, as with ask, unless it \
        belongs to a named handler. Responses to the alerts of other accounts are left to them. \
        Interrupting this command withdraws nothing.
        """,
        DateText.future,
    ]

    /// Each takes a lock, so that no hook runs for a response that is waited for.
    private static let maximum = 100

    var common = QueueOptions()
    var waitFor: Alert.Deadline?
    @Required private var first: Alert.ID
    private var others: [Alert.ID] = []

    private var ids: [Alert.ID] { [first] + others }

    func validate() throws {
        if let id = ids.firstRepeated { throw UsageError("alert \(id) is given twice") }
        guard ids.count <= Self.maximum else {
            throw UsageError("\(ids.count) alerts are too many; give at most \(Self.maximum)")
        }
    }

    func run(in context: Context) async throws -> ExitCode {
        let start = ContinuousClock.now
        let limit = waitFor?.distance(from: context.now())
        let wait = ServerWait(in: context, within: limit)
        return try await queue.open(with: first, via: Self.name, waiting: wait) { manager in
            var records: [AlertRecord] = []
            for id in ids { records.append(try await manager.record(id)) }
            var printer = ResponsePrinter(verb: Self.name, isJSON: isJSON, context: context)
            printer.namesAlert = ids.count > 1
            if let first = Self.first(of: records) {
                return try await printer.print(first, manager)
            }
            var leases: [any AlertLease] = []
            for record in records where record.isOwn {
                if let lease = await manager.leaseResponse(to: record) { leases.append(lease) }
            }
            defer { for lease in leases { lease.end() } }
            let left = limit.map { max(.zero, $0 - start.duration(to: .now)) }
            let end = try await end(
                of: records, manager, within: left, SignalWatch(stops: false), in: context)
            return try await printer.print(end, of: records, manager)
        }
    }

    /// The one whose response is the oldest; `nil` if all still wait.
    static func first(of records: [AlertRecord]) -> AlertRecord? {
        records.filter { $0.response != nil }.min { left, right in
            guard let one = left.response?.resolvedAt, let other = right.response?.resolvedAt,
                one != other
            else { return left.id < right.id }
            return one < other
        }
    }
}
