import AlertQueue

/// The alerts that a command line names: by their ids, or by the keys with which they were asked.
struct NamedAlerts: Sendable {
    var ids: [Alert.ID] = []
    var keys: [String] = []
    /// Who asked with the keys, as it was typed; `nil` means this account.
    var user: TypedPrincipal?
    /// The same, once it has been looked up.
    private(set) var principal: Principal?
    /// The source that asked with the keys; `nil` means as for `ask`.
    var source: String?
    /// How the command line writes an id and a key.
    var forms = (id: "ID", key: "--key KEY")

    /// Whether there are several, so that a line about one has to say which.
    var areSeveral: Bool { ids.count + keys.count > 1 }

    /// Looks up who asked, for a queue.
    mutating func findPrincipal(for queue: QueueChoice) throws(UsageError) {
        principal = try user.map(queue.principal)
    }

    /// Checks that something is named, in one way, and nothing twice; and looks up who
    /// asked.
    mutating func check(for queue: QueueChoice) throws(UsageError) {
        try checkNames()
        try findPrincipal(for: queue)
    }

    private func checkNames() throws(UsageError) {
        guard !ids.isEmpty || !keys.isEmpty else {
            throw UsageError("expected \(forms.id), or \(forms.key)")
        }
        if let id = ids.firstRepeated { throw UsageError("alert \(id) is given twice") }
        if let key = keys.firstRepeated { throw UsageError("the key “\(key)” is given twice") }
        guard !ids.isEmpty else { return }
        guard keys.isEmpty else {
            throw UsageError("\(forms.id) and \(forms.key) can't be combined; give one of them")
        }
        try UsageError.refuse(["source": source != nil, "user": user != nil]) {
            "\($0) belongs to \(forms.key), and can't be combined with \(forms.id)"
        }
    }

    /// The ids; those of keys are looked up when they are asked for.
    fileprivate var all: [Name] { ids.map(Name.id) + keys.map(Name.key) }

    fileprivate enum Name {
        case id(Alert.ID)
        case key(String)
    }

    fileprivate func id(
        of name: Name, _ manager: AlertManager, in context: Context
    ) async throws -> Alert.ID {
        switch name {
        case .id(let id): return id
        case .key(let key):
            let source = try context.source(source)
            do throws(AlertError) {
                return try await manager.record(key: key, of: source, by: principal).id
            } catch {
                guard case .keyNotFound = error else { throw error }
                // Not the alert with this id: a key such as a build's number must never find it.
                let isID = forms.id.hasPrefix("--") && Alert.ID(key) != nil
                let advice =
                    isID
                    ? "for the alert with this id, use --id \(key)"
                    : "name the asker with --source, and another account with --user"
                throw CommandError(
                    .notFound, "“\(source)” has asked nothing with the key “\(key)”; \(advice)")
            }
        }
    }
}

/// A verb that works on the alerts that its command line names, one after the other.
protocol NamingCommand: Command where Common == QueueOptions {
    var alerts: NamedAlerts { get set }
}

extension NamingCommand {
    static var severalDiscussion: String {
        """
        Several alerts are handled one after the other, in the order given; if one fails, the \
        others are still handled. A line on stderr says what failed, and the exit code is that of \
        the first failure. --key names the alert that this account asked with KEY; --source and \
        --user name another asker or account.
        """
    }

    mutating func validate() throws { try alerts.check(for: queue) }

    /// Does something with each alert. If that fails for one, it says so, and goes on.
    ///
    /// - Returns: The first exit code that isn't 0.
    /// - Throws: The error for the only alert, and an error that isn't about one of several.
    func forEach(
        _ manager: AlertManager, in context: Context,
        _ body: (Alert.ID) async throws -> ExitCode
    ) async throws -> ExitCode {
        var first = ExitCode.done
        for name in alerts.all {
            var code: ExitCode
            do {
                code = try await body(try await alerts.id(of: name, manager, in: context))
            } catch {
                code = ExitCode(error)
                guard alerts.areSeveral, Self.isAboutOneAlert(error) else { throw error }
                context.fail(await queue.locating(error, nil), Self.name, code)
            }
            if first == .done { first = code }
        }
        return first
    }
}

extension NamingCommand {
    /// Whether an error says nothing about the other alerts, and not that the queue can't be used.
    static func isAboutOneAlert(_ error: any Error) -> Bool {
        switch error {
        case let error as AlertError:
            switch error {
            case .inconsistent(let id, _): id != nil
            case .incompatible, .missing, .backup, .notPermitted, .busy, .unreachable, .cancelled,
                .missingLibrary, .storage, .detached, .closed:
                false
            default: true
            }
        default: [.usage, .badData, .notFound, .conflict].contains(ExitCode(error))
        }
    }
}

// MARK: - Options

extension NamingCommand {
    /// The options that name alerts by their keys, where the operands are ids.
    static var byKey: [Option<Self>] {
        [
            Option(
                "key", .key, each: \.alerts.keys,
                help: "The key with which the alert was asked, instead of an ID")
        ] + ofKey
    }

    /// The options that say whose key it is.
    static var ofKey: [Option<Self>] {
        [
            Option(
                "source", .source, \.alerts.source,
                help: "The asker of KEY (default: $ALERTQ_SOURCE, else “alertq”)"),
            Option(
                "user", .principal, \.alerts.user,
                help: "The account that asked with KEY (default: this one)"),
        ]
    }
}
