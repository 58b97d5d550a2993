extension Alert {
    /// Whether a response goes stale: a yes does, by whomever it was decided, and a no does not.
    package func limits(_ response: Response) -> Bool {
        validFor != nil && response.allowsRun(byDefault: true)
    }
}

extension AlertRecord {
    /// The record with whether its answer is stale by now, and its claim has lapsed.
    ///
    /// Within the boot in which it was given the boot clock decides, and after that the wall clock,
    /// as for a deadline that is given as a length. What its asker has taken as stale stays so,
    /// although the clock may have been set back since.
    package func current(at now: ClockReading) -> AlertRecord {
        let isStale =
            if let length = alert.validFor, let validSince {
                now.isAtOrAfter(validSince.advanced(by: length))
            } else {
                false
            }
        let hasLapsed = claim.map { response != nil || $0.isOver(at: now) } ?? false
        guard isStale || hasLapsed else { return self }
        var record = self
        if isStale { record.response?.isStale = true }
        if hasLapsed { record.claim = nil }
        return record
    }
}

extension AlertRecord {
    /// Sets when the response was stored, if it goes stale. A default counts from the deadline on,
    /// however late a process noticed that; one that was applied before it, because nobody was there,
    /// counts from then.
    package mutating func setGiven(at moment: ClockReading?, deadline: ClockReading?) {
        givenAt = moment
        validSince = moment
        if let moment, let deadline, response?.outcome == .expired, moment.isAtOrAfter(deadline) {
            validSince = deadline
        }
    }
}

extension StoredAlert {
    /// The alert with whether its answer is stale by now.
    package func current(at now: ClockReading) -> StoredAlert {
        var alert = self
        alert.record = record.current(at: now)
        return alert
    }
}
