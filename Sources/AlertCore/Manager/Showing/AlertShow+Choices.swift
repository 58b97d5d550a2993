// Storing what was chosen, and what an error means for the screen.
extension AlertShow {
    /// Stores a person's choice; after a choice that can't be stored, the alert is shown again.
    func store(_ choice: PresenterChoice, by run: PresenterRun) async -> ShowEnd? {
        switch choice {
        case .button(let index):
            return await resolve(.choose(button: index), by: run)
        case .close where record.alert.buttons.isEmpty:
            return await resolve(.choose(button: nil), by: run)
        case .close, .later:
            let duration: Duration? = if case .later(let time) = choice { time } else { nil }
            do throws(AlertError) {
                let caller = context.caller.through(run.name)
                snoozed = try await context.store.snooze(id, for: duration, by: caller)
                return .waits
            } catch {
                return await failed(error, by: run)
            }
        }
    }

    func resolve(_ resolution: Resolution, by run: PresenterRun?) async -> ShowEnd? {
        do throws(AlertError) {
            let caller = run.map { context.caller.through($0.name) } ?? context.caller
            let seen = run.flatMap { _ in
                record.salt.map { AuditEntry.content(of: record.alert, salt: $0) }
            }
            let resolved = try await context.store.resolve(id, resolution, seen: seen, by: caller)
            return .resolved(resolved, chosenOn: run?.name)
        } catch {
            return await failed(error, by: run)
        }
    }

    /// Decides what an error means for the screen: the alert was already resolved, or try again.
    private func failed(_ error: AlertError, by run: PresenterRun?) async -> ShowEnd? {
        switch error {
        case .alreadyResolved(let response), .late(let response):
            var resolved = record
            resolved.state = .resolved
            resolved.response = response
            return .resolved(resolved, chosenOn: nil)
        case .inconsistent:
            await returned(because: SafeText.line("\(error)"))
            return .refused(error)
        case .noSuchButton, .notAsSeen, .invalid:
            // A second try would fail, too: the alert does not offer this choice.
            guard let run else { return nil }
            return await ended(run.name, because: error)
        default:
            guard let run else { return nil }
            if runs.contains(run), run.fail(error) { return nil }
            if let presenter = presenter(run.name) { runs.start(presenter, after: error) }
            return nil
        }
    }
}
