// Passing on responses, and handling alerts that contradict the log.
extension AlertManager {
    /// Called when the log reports that an alert has its response.
    func hearResolved(_ id: Alert.ID) async throws(AlertError) {
        await presentation.alerts.noteChange(of: id)
        // This manager may just have asked it.
        if context.delegates.ofOwn(id) == nil { _ = await context.delegates.waitForArrivals() }
        let isShown = await presentation.show?.id == id
        if !isShown, context.delegates.ofOwn(id) == nil {
            context.delegates.remove(id)
            guard await isAwaited(id) else { return askers.sawResolution() }
        }
        do throws(AlertError) {
            await noteResolved(try await store.record(id))
        } catch {
            guard case .inconsistent = error else { throw error }
            await refuse(id, error)
        }
    }

    /// Called when the log reports a request that the screen cancel an alert.
    func hearCancelRequest(_ id: Alert.ID) async throws(AlertError) {
        guard let show = await presentation.show, show.id == id else { return }
        do throws(AlertError) {
            try await show.lookForCancel()
        } catch {
            guard case .inconsistent = error else { throw error }
            await refuse(id, error)
        }
    }

    /// Whether anything here depends on the actions of others.
    var isInterestedInLog: Bool {
        get async {
            if !askers.isEmpty { return true }
            if await !handlers.isEmpty { return true }
            if context.delegates.hasOwn { return true }
            return await presentation.isOn
        }
    }

    /// Looks for a response that came before anybody here waited for it, until the read succeeds:
    /// the log's entry may already have been read.
    func lookAgain(at id: Alert.ID) async {
        while !isClosed, await isAwaited(id) {
            do throws(AlertError) {
                let found = try await store.find(.id(id))
                // An expiry that is not stored is not a response yet.
                if found.record.response != nil, !found.isOverdue {
                    await noteResolved(found.record)
                }
                return
            } catch .inconsistent(let subject, let reason) {
                return await refuse(id, .inconsistent(subject, reason))
            } catch {
                // The disk fails: try again in a second.
                guard (try? await context.clock.sleep(for: .seconds(1))) != nil else { return }
            }
        }
    }

    private func isAwaited(_ id: Alert.ID) async -> Bool {
        if askers.count(for: id) > 0 { return true }
        return await handlers.mayWait(for: id)
    }

    /// Takes a snoozed alert off the screen.
    func noteSnoozed(_ id: Alert.ID) async {
        await presentation.alerts.noteChange(of: id)
        if let show = await presentation.show, show.id == id {
            show.hearSnoozed()
        } else {
            tellDismissed(id)
        }
        presentation.wakeUps.wake()
    }

    /// Passes a response on: to the screen that shows the alert, else to the calls that wait for
    /// it.
    func noteResolved(_ record: AlertRecord) async {
        await presentation.alerts.noteChange(of: record.id)
        // The show may have ended while this task went from one actor to the other.
        if let show = await presentation.show, show.id == record.id, await show.hear(record) {
            return
        }
        if let delegate = context.delegates.ofOwn(record.id) {
            // This comes before closures run and before waiting calls get the response.
            context.delegates.calls.add(for: record.id) { [self, context] in
                // Another look may have notified the delegate already.
                if context.delegates.ofOwn(record.id) != nil {
                    await Self.tell(delegate, of: record, in: context)
                }
                await settle(record)
            }
        } else {
            await settle(record)
        }
    }

    /// Delivers a response to the calls and closures that wait for it in this process.
    func settle(_ record: AlertRecord) async {
        await presentation.alerts.noteChange(of: record.id)
        context.delegates.remove(record.id)
        await askers.settle(record)
        await handlers.settle(record)
    }

    /// Acts on what a look for the next alert has found along with it.
    func hear(_ found: UpcomingAlerts.Found) async {
        if let error = found.error, case .incompatible = error {
            await presentation.fail(with: error)
        }
        for (id, error) in found.refused { await refuse(id, error) }
    }

    /// Notifies the calls that wait for a response that it can't be trusted.
    func refuse(_ id: Alert.ID, _ error: AlertError) async {
        await askers.fail(id, with: error)
        context.errors.report(.inconsistent(id, error))
        if let show = await presentation.show, show.id == id {
            show.leave(because: SafeText.line("\(error)"))
        }
    }
}
