import AlertQueue
import TextFormats

/// `alertq collect KEY…` or `alertq collect --id ID`: collects the responses to earlier asks.
struct CollectCommand: CollectingCommand, NamingCommand {
    static let name = "collect"
    static let abstract = "Collect the responses to earlier asks, by their keys or ids"
    static let operands: [Operand<Self>] = [Operand(.key, each: \.alerts.keys)]
    static let options: [Option<Self>] =
        [
            Option(
                "id", .alertID(.uncollectedAlert), each: \.alerts.ids,
                help: "The id of the alert, instead of a key"),
            Option("key", .key, each: \.alerts.keys, help: "The same as KEY"),
            .waitFor,
            Option(
                "handled", \.takesHandled,
                help: "Collect it even if it belongs to a named handler"),
        ] + ofKey
    static let discussion = [
        """
        It prints and exits as the ask would: it prints the chosen button's id and exits with 0, \
        or 10 for the cancel button; \(ExitCode.list(ExitCode.endsWithoutButton)); 15 if there is \
        no response yet, 18 if it is stale, because ask --valid was given, and 66 if nothing was asked with this key or id. A response counts as \
        collected once it has been written to stdout. Collecting it again prints it again. The values \
        of fields and the note follow the button's id, one a line.
        """,
        """
        A key belongs to the account and the source that asked: --user and --source name others. \
        A KEY that is a number is still a key; --id collects the response to any alert, by the id \
        that ask --detach prints. Unlike asking again with the same key, this needs no text, shows \
        nothing, and never asks.
        """,
        """
        For several alerts, each result is a line with the alert's id, a tab and the button's id, \
        as wait prints it, in the order given. An alert that is missing or has no response doesn't \
        stop the others. The exit code is the first one that isn't 0. --wait-for limits the wait \
        for all of them together.
        """,
        """
        A response that belongs to a named handler is printed but not collected. --handled \
        collects it too, for a program that will never run again. The response to another \
        account's alert is printed, but collected only if root of its machine runs this.
        """,
        DateText.future,
    ]

    var common = QueueOptions()
    var alerts = NamedAlerts(forms: ("--id ID", "KEY"))
    var waitFor: Alert.Deadline?
    private var takesHandled = false

    mutating func validate() throws { try alerts.check(for: queue) }

    func run(in context: Context) async throws -> ExitCode {
        let start = ContinuousClock.now
        let limit = waitFor?.distance(from: context.now())
        let wait = limit.map { ServerWait(in: context, within: $0) }
        return try await queue.open(with: alerts.ids.first, via: Self.name, waiting: wait) {
            manager in
            var signals: SignalWatch?
            return try await forEach(manager, in: context) { id in
                let left = limit.map { max(.zero, $0 - start.duration(to: .now)) }
                let record = try await manager.record(id)
                // From here on an interruption only ends the wait.
                if left != nil, record.response == nil, signals == nil {
                    signals = SignalWatch(stops: false)
                }
                return try await collect(record, manager, within: left, signals, in: context)
            }
        }
    }

    private func collect(
        _ record: AlertRecord, _ manager: AlertManager, within limit: Duration?,
        _ signals: SignalWatch?, in context: Context
    ) async throws -> ExitCode {
        var printer = ResponsePrinter(verb: Self.name, isJSON: isJSON, context: context)
        printer.takesHandled = takesHandled
        printer.namesAlert = alerts.areSeveral
        if record.response != nil { return try await printer.print(record, manager) }
        guard let limit, let signals else {
            return try printer.printWaiting([record])
        }
        let lease = await manager.leaseResponse(to: record)
        defer { lease?.end() }
        let end = try await end(of: [record], manager, within: limit, signals, in: context)
        return try await printer.print(end, of: [record], manager)
    }
}
