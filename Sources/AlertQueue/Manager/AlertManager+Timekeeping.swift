// Deadlines, the ends of snoozes and handlers that are to be tried again. Each open manager acts
// on all of them, also where no process shows, reads or waits.
extension AlertManager {
    /// How soon the queue is first looked at; a process that ends sooner is spared the look.
    private static let timeToFirstLook = Duration.milliseconds(100)
    /// How often the queue is looked at, for what other processes have stored and for clocks that
    /// were set.
    private static let pauseBetweenLooks = Duration.seconds(1)
    /// How long a disk may fail before those who wait for an expiry hear of it.
    private static let patience = Duration.seconds(5)

    /// The next moment at which something is due.
    struct Alarm {
        let moment: ClockReading
        let task: Task<Void, Never>
    }

    func startTimekeeping() {
        timekeeper = Task { [weak self] in
            var pause = Self.timeToFirstLook
            // The sleep ends early when the manager has closed or is gone.
            while (try? await Task.sleep(for: pause)) != nil {
                guard let manager = self else { return }
                await manager.keepTime()
                pause = Self.pauseBetweenLooks
            }
        }
    }

    /// Acts on what is due, and sets the alarm for what will be.
    func keepTime() async {
        // These wait for no lock, which may hold up the rest for seconds.
        tryHandlersAgain(at: clock.now())
        mustKeepTimeAgain = isKeepingTime
        guard !isKeepingTime else { return }
        isKeepingTime = true
        repeat {
            mustKeepTimeAgain = false
            await keepTimeOnce()
        } while mustKeepTimeAgain && !isClosed
        isKeepingTime = false
    }

    /// Sets the alarm for a moment, unless it goes off earlier anyway.
    func setAlarm(at moment: ClockReading) {
        let now = clock.now()
        if let alarm, now.time(until: alarm.moment) <= now.time(until: moment) { return }
        alarm?.task.cancel()
        alarm = Alarm(
            moment: moment,
            task: Task { [weak self, clock] in
                guard (try? await clock.sleep(until: moment)) != nil else { return }
                await self?.alarmWentOff(moment)
            })
    }

    private func alarmWentOff(_ moment: ClockReading) async {
        // Also before its moment: the wall clock may have been set back meanwhile.
        if alarm?.moment == moment { alarm = nil }
        await keepTime()
    }

    private func keepTimeOnce() async {
        guard !isClosed else { return }
        let now = clock.now()
        if let alarm, now.isAtOrAfter(alarm.moment) {
            alarm.task.cancel()
            self.alarm = nil
        }
        if let due = handlers.nextDue(after: now) { setAlarm(at: due) }
        do throws(AlertError) {
            try await expireAwaited(at: now)
            var due = try await store.due()
            if due.isNow {
                try await sweep()
                // What has come back from a snooze can be shown.
                emptySince = nil
                pokes.change()
                due = try await store.due()
            }
            // What is still overdue now can't be stored: a look each second is enough for it.
            if let next = due.next, !clock.now().isAtOrAfter(next) { setAlarm(at: next) }
            timeFailingSince = nil
        } catch {
            reportLateness(error)
        }
    }

    private func sweep() async throws(AlertError) {
        do throws(AlertError) {
            try await store.sweep(atMost: .max)
        } catch .storage {
            // An expiry is an answer by policy, and a full disk has room for answers.
            try await store.sweepInReserve()
        }
    }

    /// Says once that deadlines can't be applied, if that lasts; they are tried again each second.
    private func reportLateness(_ error: AlertError) {
        if case .closed = error { return }
        let now = ContinuousClock.now
        let (since, isTold) = timeFailingSince ?? (now, false)
        timeFailingSince = (since, isTold)
        // A lock has been waited for already.
        var isLasting = since.duration(to: now) >= Self.patience
        if case .busy = error { isLasting = true }
        guard isLasting, !isTold else { return }
        timeFailingSince = (since, true)
        report(.deadlines(error))
    }

    /// Stores the expiries that somebody here waits for, each as an answer, which may take the room
    /// that is set aside on a full disk.
    private func expireAwaited(at now: ClockReading) async throws(AlertError) {
        let overdue = deadlines.filter { now.isAtOrAfter($0.value) }.keys.sorted()
        guard !overdue.isEmpty else { return }
        // All at once, so that they share transactions.
        let results = await withTaskGroup { [store] group in
            for id in overdue {
                group.addTask { () -> (Alert.ID, Result<AlertRecord, AlertError>) in
                    do throws(AlertError) {
                        return (id, .success(try await store.expire(id)))
                    } catch {
                        return (id, .failure(error))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var failure: AlertError?
        for (id, result) in results {
            switch result {
            case .success(let record): if record.response != nil { noteResolved(record) }
            case .failure(let error):
                if case .inconsistent = error {
                    deadlines[id] = nil
                    refuse(id, error)
                    continue
                }
                failure = error
                giveUpWaiting(for: id, because: error)
            }
        }
        if let failure { throw failure }
        expiryFailingSince = nil
    }

    /// Tells those who wait for an alert that its expiry can't be stored: they must not wait for
    /// ever, and not take it for expired either.
    private func giveUpWaiting(for id: Alert.ID, because error: AlertError) {
        let since = expiryFailingSince ?? .now
        expiryFailingSince = since
        // A lock has been waited for already.
        if case .storage = error, since.duration(to: .now) < Self.patience { return }
        if case .closed = error { return }
        // The alert's closures stay, until the expiry can be stored.
        for watcher in (watchers.removeValue(forKey: id) ?? [:]).values {
            watcher.resume(throwing: error)
        }
        if closures[id] == nil { deadlines[id] = nil }
    }
}
