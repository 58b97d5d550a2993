import AlertCore

/// The result of a step, without what differs between stores: salts, and the hashes that depend on
/// them.
enum StepResult: Equatable, Sendable {
    case receipt(
        AlertRecord, isNew: Bool, isCancelRequested: Bool, Duration?, unused: EntryReason?,
        sequence: Int64)
    case upcoming(AlertRecord?, Duration?, isCancelRequested: Bool, WaitingAlerts)
    case page([AlertRecord], next: Int64?, isEnd: Bool)
    /// Other facts, one a line.
    case facts([String])
    case failure(AlertError)

    init(_ receipt: Receipt) {
        self = .receipt(
            receipt.record.withoutSalt, isNew: receipt.isNew,
            isCancelRequested: receipt.isCancelRequested, receipt.timeLeft,
            unused: receipt.unused?.reason, sequence: receipt.head.sequence)
    }

    init(_ upcoming: Upcoming) {
        self = .upcoming(
            upcoming.record?.withoutSalt, upcoming.timeLeft,
            isCancelRequested: upcoming.isCancelRequested, upcoming.waiting)
    }

    init(_ page: RecordPage) {
        self = .page(page.records.map(\.withoutSalt), next: page.next, isEnd: page.isEnd)
    }

    init(_ statistics: AlertStatistics) {
        let counts = { (counts: AlertStatistics.Counts) in
            let ends = counts.outcomes.sorted { $0.key.rawValue < $1.key.rawValue }
            return "\(counts.asked) \(counts.unseen) \(ends)"
        }
        self = .facts(
            [
                counts(statistics.total), "\(statistics.oldestWaiting as Any)",
                "\(Outcome.allCases.map { statistics.uncollected[$0] ?? 0 })",
                "\(statistics.timeFromAsked.histogram)", "\(statistics.timeFromAsked.sum)",
                "\(statistics.timeFromPresented.histogram)", "\(statistics.timeFromPresented.sum)",
            ] + (statistics.sources + statistics.buttons).map { "\($0.name) \(counts($0.counts))" })
    }

    /// - Parameter seen: The digests of the contents of the entries' alerts.
    init(_ entries: [AuditEntry], seen: [Alert.ID: String?]) {
        self = .facts(
            entries.map { entry in
                let content = entry.content.map { content in
                    let isSame =
                        Hex.text(content) == entry.event.alertID.flatMap { seen[$0] ?? nil }
                    return isSame ? "as asked" : "other"
                }
                var entry = entry
                // It depends on the salts.
                entry.hash = []
                return """
                    \(entry.event) role \(entry.buttonRole as Any) login \(entry.loginUID as Any) \
                    session \(entry.session as Any) button \(entry.button ?? "-") \
                    content \(content ?? "-") detail \(Self.withoutSalt(entry.detail))
                    """
            })
    }

    /// The detail of an entry, without the salted hash of a key or of values.
    private static func withoutSalt(_ detail: String?) -> String {
        (detail ?? "-").split(separator: ",")
            .map { member in
                ["\"key\"", "\"key_salt\"", "{\"values\"", "\"values\""]
                    .first { member.hasPrefix($0 + ":") } ?? String(member)
            }
            .joined(separator: ",")
    }
}

extension AlertRecord {
    fileprivate var withoutSalt: AlertRecord {
        var record = self
        record.salt = nil
        return record
    }
}
