import TextFormats

// Questions whose buttons are the cases of an enum.
extension AlertManager {
    /// Asks with an enum whose cases are the buttons, and returns the chosen case.
    ///
    /// ```swift
    /// enum Decision: AlertChoice { case deploy, later }
    ///
    /// let decision = try await manager.ask("Deploy version 2?", as: Decision.self)
    /// if decision == .deploy { try await deploy() }
    /// ```
    ///
    /// A deadline may have applied the default button's case; ``ask(_:choosing:)`` also returns the
    /// response, which distinguishes the two.
    ///
    /// - Throws: ``AlertError/noChoice(_:)`` if nobody chose: the alert was cancelled, dismissed or
    ///   withdrawn, or expired without a default; ``AlertError/invalid(_:_:)`` for an enum without
    ///   cases; and the errors of ``ask(_:replacing:delegate:)``.
    public nonisolated func ask<Choice: AlertChoice>(
        _ title: String, as choice: Choice.Type, message: String? = nil, key: String? = nil
    ) async throws -> Choice {
        try await ask(Alert(title, message: message, key: key), as: choice)
    }

    /// Asks an alert whose buttons are replaced by the cases of an enum, and returns the chosen
    /// case.
    ///
    /// ```swift
    /// let alert = Alert("Deploy version 2?", priority: .high, deadline: .after(.seconds(600)))
    /// if try await manager.ask(alert, as: Decision.self) == .deploy { try await deploy() }
    /// ```
    ///
    /// - Throws: The errors of ``ask(_:as:message:key:)``.
    public nonisolated func ask<Choice: AlertChoice>(
        _ alert: Alert, as choice: Choice.Type
    ) async throws -> Choice {
        try await ask(alert, choosing: choice).choice
    }

    /// Asks an alert whose buttons are replaced by the cases of an enum, and returns the chosen
    /// case and the response, which distinguishes a person's choice from policy.
    ///
    /// ```swift
    /// let (decision, response) = try await manager.ask(alert, choosing: Decision.self)
    /// if decision == .deploy, response.by == .person { try await deploy() }
    /// ```
    ///
    /// - Throws: The errors of ``ask(_:as:message:key:)``.
    public nonisolated func ask<Choice: AlertChoice>(
        _ alert: Alert, choosing choice: Choice.Type
    ) async throws -> (choice: Choice, response: Response) {
        let response = try await ask(try alert.choosing(choice))
        guard let chosen = response.choice(of: choice) else { throw AlertError.noChoice(response) }
        return (chosen, response)
    }

    /// Asks, without waiting, an alert whose buttons are replaced by the cases of an enum.
    ///
    /// ```swift
    /// try await manager.show(alert, as: Decision.self) { decision, response in
    ///     if decision == .deploy, response.by == .person { try await deploy() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - alert: What to ask.
    ///   - choice: The enum.
    ///   - presenters: The names of the presenters that may show it; `nil` means those that the
    ///     alert names.
    ///   - delegate: The delegate for this alert instead of the manager's; held weakly.
    ///   - handler: Code for the response; the choice is `nil` if nobody chose.
    /// - Returns: The alert's id, once the alert is on disk.
    /// - Throws: ``AlertError/invalid(_:_:)`` for an enum without cases, and the errors of
    ///   ``show(_:on:delegate:handler:)``.
    @discardableResult
    public nonisolated func show<Choice: AlertChoice>(
        _ alert: Alert, as choice: Choice.Type, on presenters: [String]? = nil,
        delegate: (any AlertManagerDelegate)? = nil,
        handler: @escaping @Sendable (Choice?, Response) async throws -> Void
    ) async throws(AlertError) -> Alert.ID {
        try await show(try alert.choosing(choice), on: presenters, delegate: delegate) {
            response in try await handler(response.choice(of: choice), response)
        }
    }

    /// Registers code under a handler's name for alerts whose buttons are the cases of an enum.
    ///
    /// ```swift
    /// try await manager.register(handler: "deploy", as: Decision.self) { decision, response in
    ///     if decision == .deploy { try await deploy() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name that alerts carry, 1 to 256 bytes.
    ///   - choice: The enum.
    ///   - body: Code for a response, as in ``register(handler:_:)``; the choice is `nil` if nobody
    ///     chose, or if the button is not a case, such as one of an earlier version of the enum.
    /// - Throws: ``AlertError/invalid(_:_:)`` for an enum without cases, and the errors of
    ///   ``register(handler:_:)``.
    public func register<Choice: AlertChoice>(
        handler name: String, as choice: Choice.Type,
        _ body: @escaping @Sendable (Choice?, Response) async throws -> Void
    ) async throws(AlertError) {
        try Alert.checkCases(of: choice)
        try await register(handler: name) { response in
            try await body(response.choice(of: choice), response)
        }
    }
}

extension Response {
    /// The case that was chosen or applied by policy; `nil` if nobody chose, or if the button is
    /// not a case of the enum.
    ///
    /// ```swift
    /// switch response.choice(of: Decision.self) {
    /// case .deploy: try await deploy()
    /// case .later, nil: break
    /// }
    /// ```
    public func choice<Choice: AlertChoice>(of choice: Choice.Type) -> Choice? {
        guard outcome == .answered || by == .policy, let button else { return nil }
        return Choice.allCases.first { button.id.isIdentical(to: $0.id) }
    }
}

extension Alert {
    /// The same alert with the cases of an enum as its buttons.
    fileprivate func choosing<Choice: AlertChoice>(
        _ choice: Choice.Type
    ) throws(AlertError) -> Alert {
        try Self.checkCases(of: choice)
        var alert = self
        alert.buttons = Choice.buttons
        return alert
    }

    fileprivate static func checkCases<Choice: AlertChoice>(
        of choice: Choice.Type
    ) throws(AlertError) {
        guard !Choice.allCases.isEmpty else {
            throw .invalid("enum \(choice)", "has no cases, and so no buttons to choose from")
        }
    }
}
