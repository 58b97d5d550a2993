import AlertQueue

/// `alertq collect KEY` or `alertq collect --id ID`: collects the response to an earlier ask.
struct CollectCommand: CollectingCommand {
    static let name = "collect"
    static let abstract = "Collect the response to an earlier ask, by its key or its id"
    static let operands: [Operand<Self>] = [Operand(.key, \.key)]
    static let options: [Option<Self>] = [
        Option(
            "id", .alertID(.uncollectedAlert), \.id, help: "The id of the alert, instead of a key"),
        Option(
            "source", .source, \.source,
            help: "The asker's name (default: $ALERTQ_SOURCE, else “alertq”)"),
        .waitFor,
        Option(
            "handled", \.takesHandled,
            help: "Collect it even if it belongs to a named handler"),
    ]
    static let discussion = [
        """
        It prints and exits as the ask would: it prints the chosen button's id and exits with 0, \
        or 10 for the cancel button; \(ExitCode.list(ExitCode.endsWithoutButton)); 15 if there is \
        no response yet, and 66 if nothing was asked with this key or id. A response counts as \
        collected once it has been written to stdout. Collecting it again prints it again.
        """,
        """
        A key belongs to the user and the source that asked; --id collects the response to any \
        alert, by the id that ask --detach prints. Unlike asking again with the same key, this \
        needs no text, shows nothing, and never asks.
        """,
        """
        A response that belongs to a named handler is printed but not collected. --handled \
        collects it too, for a program that will never run again. The response to another \
        account's alert is printed, but collected only if root runs this.
        """,
        DateText.future,
    ]

    /// What identifies the alert.
    private enum Subject {
        case key(String)
        case id(Alert.ID)
    }

    var common = QueueOptions()
    var waitFor: Alert.Deadline?
    private var key: String?
    private var id: Alert.ID?
    private var source: String?
    private var takesHandled = false

    func validate() throws { _ = try subject }

    private var subject: Subject {
        get throws(UsageError) {
            switch (key, id) {
            case (let key?, nil): return .key(key)
            case (nil, let id?):
                guard source == nil else {
                    throw UsageError("--source belongs to KEY, and can't be combined with --id")
                }
                return .id(id)
            case (nil, nil): throw UsageError("expected KEY, or --id ID")
            case (_?, _?): throw UsageError("KEY and --id can't be combined; give one of them")
            }
        }
    }

    func run(in context: Context) async throws -> ExitCode {
        switch try subject {
        case .id(let id):
            return try await queue.open(with: id, via: Self.name) { manager in
                try await collect(try await manager.record(id), manager, in: context)
            }
        case .key(let key):
            let source = try context.source(source)
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
        var printer = ResponsePrinter(verb: Self.name, isJSON: isJSON, context: context)
        printer.takesHandled = takesHandled
        if record.response != nil { return try await printer.print(record, manager) }
        guard waitFor != nil else { return try await printer.printWaiting([record.id], manager) }
        // From here on an interruption only ends the wait.
        let claim = await manager.claimResponse(to: record)
        defer { claim?.end() }
        let end = try await end(of: [record], manager, in: context)
        return try await printer.print(end, of: [record], manager)
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
            "“\(source)” has asked nothing with the key “\(key)”; name the asker with --source")
    }
}
