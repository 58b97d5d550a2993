import AlertCore
import FoundationEssentials
import TextFormats

/// The facts that are shown with an alert, besides its own texts.
struct AlertFacts: Sendable {
    private let presentation: Presentation
    private let host: String
    /// The deadline.
    let end: Date?
    private let defaultTitle: String?
    private let characters: TerminalCharacters

    /// - Parameter host: The name of this machine.
    init(
        _ presentation: Presentation, host: String, characters: TerminalCharacters = .all
    ) {
        self.presentation = presentation
        self.characters = characters
        self.host = host
        // If only a length of time is known, the date is computed once: it must not flicker.
        let left = presentation.timeUntilExpiry().map { Double($0.milliseconds) / 1000 }
        end = presentation.record.expiresAt ?? left.map { Date().addingTimeInterval($0) }
        let alert = presentation.alert
        defaultTitle = alert.buttons.first { alert.defaultButton.isIdentical(to: $0.id) }
            .map { characters.title($0.title) }
    }

    /// The alert as other commands name it: by its id, and by its queue where there are several.
    private var number: String {
        "alert \(presentation.record.id)" + (presentation.queueName.map { " of \($0)" } ?? "")
    }

    /// What it asks for beside its buttons.
    private var fields: String? {
        let fields = presentation.alert.fields
        guard !fields.isEmpty else { return nil }
        let names = fields.map { field in
            characters.line(field.title) + (field.isRequired ? "" : " (optional)")
        }
        return "asks for \(names.joined(separator: ", "))"
    }

    private var validity: String? { presentation.alert.validFor.map(AlertWording.validity) }

    private func source(_ user: String?) -> String {
        let source = presentation.record.source
        return AlertWording.source(source, user: user, here: host, characters: characters)
    }

    private func claim(of record: AlertRecord, _ now: Date) -> String? {
        guard let claim = record.claim, claim.until > now else { return nil }
        return AlertWording.claim(claim, now: now, characters: characters)
    }

    /// Its number, who asks, how urgently, since when, who deals with it, whether nobody waits for the
    /// answer, how long a yes counts, how many others wait, and when the alert ends by itself.
    ///
    /// - Parameters:
    ///   - record: The alert as it is now.
    ///   - namesFields: Whether it is said what the alert asks for, because that isn't shown.
    func texts(
        _ record: AlertRecord, user: String?, waiting: WaitingAlerts, dismissal: Duration?,
        namesFields: Bool, now: Date
    ) -> [String] {
        let priority = presentation.alert.priority
        var texts: [String?] = [
            number, source(user), priority >= .high ? "\(priority)" : nil,
            AlertWording.age(now.timeIntervalSince(record.askedAt)),
            claim(of: record, now), record.isOrphaned ? AlertWording.orphaned : nil,
            namesFields ? fields : nil, validity, AlertWording.waiting(waiting),
        ]
        if let left = presentation.timeUntilExpiry(), let end {
            texts.append(
                AlertWording.ending(in: left, at: end, now: now, defaultTitle: defaultTitle))
        }
        if let dismissal { texts.append(AlertWording.closing(in: dismissal)) }
        return texts.compactMap { $0 }
    }

    /// The same for a text that doesn't change: with times of day instead of lengths of time.
    func lastingTexts(user: String?, now: Date) -> [String] {
        let record = presentation.record
        let priority = presentation.alert.priority
        let texts: [String?] = [
            number, source(user), priority >= .high ? "\(priority)" : nil,
            "asked at " + LocalTime.text(record.askedAt, .brief(now: now)),
            claim(of: record, now), record.isOrphaned ? AlertWording.orphaned : nil,
            fields, validity,
            AlertWording.waiting(WaitingAlerts(count: presentation.waitingCount)),
            end.map { AlertWording.until($0, now: now, defaultTitle: defaultTitle) },
        ]
        return texts.compactMap { $0 }
    }

    /// The times that "later" offers now.
    func laterOptions(now: Date) -> [AlertInteraction.LaterOption] {
        AlertWording.laterOptions(
            snooze: presentation.alert.snooze, expiry: presentation.timeUntilExpiry(), now: now)
    }
}
