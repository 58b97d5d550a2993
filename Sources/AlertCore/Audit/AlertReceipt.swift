import FoundationEssentials
import TextFormats

/// A document that shows, without the queue, that an alert was asked and how it ended.
///
/// It has what was asked and answered, with the salt of their hashes, the log's entries about the
/// alert, and the chain from the first of them to a head of the log; of the other entries it has only
/// hashes, and the ids of their alerts. Whoever knows that head from elsewhere knows that the log has
/// these entries about the alert up to there, and no others.
///
/// ```swift
/// let receipt = try await manager.receipt(of: 42)
/// let text = try receipt.text()
/// // Somewhere else:
/// let read = try AlertReceipt(text)
/// try read.check(expecting: receipt.head)
/// print(read.alert.title, read.response?.button?.title ?? "-")
/// ```
public struct AlertReceipt: Sendable {
    private static let form = "alertq-receipt-1"

    /// The alert's number in its queue.
    public let id: Alert.ID
    /// What was asked, without closures; its ``Alert/deadline`` is in the entry of its ask.
    public let alert: Alert
    /// What was entered with the answer, and its note, or the reason of a withdrawal.
    public let input: Alert.Input
    /// The salt of the hashes of both.
    let salt: [UInt8]
    /// The log's entries about the alert, from its ask to the head.
    public let entries: [AuditEntry]
    /// After each of them, those that follow it, up to the next one about the alert, or to the head.
    let between: [[Other]]
    /// The last entry of the chain.
    public let head: AuditHead

    /// An entry about something else.
    struct Other: Sendable, Hashable {
        let alert: Alert.ID?
        /// The hash of what it says.
        let own: [UInt8]

        /// `ALERT:HASH`, with 0 for no alert.
        var text: String { "\(alert ?? 0):\(Hex.text(own))" }
    }

    /// The entries about an alert in their chain, as the log is read.
    struct Chain {
        private let id: Alert.ID
        private let input = HashInput()
        private(set) var entries: [AuditEntry] = []
        private(set) var between: [[Other]] = []
        private(set) var head: AuditHead

        /// - Parameter first: The entry of the ask, which is to be added first.
        init(of id: Alert.ID, from first: AuditEntry) {
            self.id = id
            head = AuditHead(
                sequence: first.event.sequence.subtractingBounded(1), hash: first.previous)
        }

        /// Adds the next entry of the log.
        mutating func add(_ entry: AuditEntry) throws(AlertError) {
            try entry.checkLink(after: head)
            try entry.checkHash()
            head = entry.event.cursor
            let alert = entry.event.alertID
            if alert == id {
                entries.append(entry)
                between.append([])
            } else if !between.isEmpty {
                between[between.count - 1].append(
                    Other(alert: alert, own: entry.ownHash(with: input)))
            }
        }
    }

    init(of record: AlertRecord, salt: [UInt8], _ chain: Chain) {
        id = record.id
        var alert = record.alert
        alert.source = record.source.name
        self.alert = alert
        // What was entered belongs to the entry of the end, which may come after the head.
        let hasEnded = chain.entries.contains { $0.event.kind == .resolved }
        input = hasEnded ? record.response?.input ?? Alert.Input() : Alert.Input()
        self.salt = salt
        (entries, between, head) = (chain.entries, chain.between, chain.head)
    }

    /// How the alert has ended, according to its entries; `nil` if none of them says that.
    public var response: Response? {
        guard let entry = entries.first(where: { $0.event.kind == .resolved }),
            let outcome = entry.event.outcome, let by = entry.event.by
        else { return nil }
        let index = entry.event.buttonIndex ?? -1
        var response = Response(
            alertID: id, outcome: outcome, buttonIndex: index,
            button: alert.buttons.indices.contains(index) ? alert.buttons[index] : nil, by: by,
            responder: entry.isOfTimer ? nil : entry.event.responder, resolvedAt: entry.event.at,
            collectedAt: entries.first { $0.event.kind == .collected }?.event.at,
            userInfo: alert.userInfo, cancelHandling: entry.cancelHandling, input: input)
        for case .superseded(let successor)? in entries.map(\.meaning) {
            response.supersededBy = successor
        }
        return response
    }
}

// MARK: - Checking

extension AlertReceipt {
    /// Makes sure that everything in it agrees: the hash of each entry, the chain, what was asked, and
    /// what was answered.
    ///
    /// - Parameter kept: A head that was kept elsewhere, which the chain must have after the last
    ///   entry about the alert, or as that; without one, a forger may have made all of it.
    /// - Throws: ``AlertError/inconsistent(_:_:)``, with the first contradiction.
    public func check(expecting kept: AuditHead? = nil) throws(AlertError) {
        try checkChain(expecting: kept)
        guard let asked = entries.first, case .asked(let terms)? = asked.meaning else {
            throw fault("does not begin with the entry of an ask")
        }
        guard asked.content == AuditEntry.content(of: alert, salt: salt),
            terms.lengths == AlertProperty.terms.map({ $0.milliseconds(of: alert) }),
            asked.event.source.isIdentical(to: alert.source)
        else { throw fault("has another question than entry \(asked.event.sequence)") }
        var trail = AlertTrail(of: id)
        for entry in entries {
            guard entry.hasOwnDetail else {
                throw fault(
                    "has a detail that no entry of its kind has, in entry \(entry.event.sequence)")
            }
            trail.add(entry)
        }
        if let contradiction = trail.contradiction { throw contradiction.error(of: id) }
        let values = EntryDetail.Answered.hash(input, for: alert.fields, salt: salt)
        let end = entries.first { $0.event.kind == .resolved }
        guard values == end?.answered?.values else {
            throw fault("has other values, or another note, than the entry of its end")
        }
    }

    private func checkChain(expecting kept: AuditHead?) throws(AlertError) {
        guard let first = entries.first, entries.count == between.count else {
            throw fault("has no entries")
        }
        let input = HashInput()
        var last = AuditHead(
            sequence: first.event.sequence.subtractingBounded(1), hash: first.previous)
        var hasKept = false
        for (entry, others) in zip(entries, between) {
            guard entry.event.alertID == id else { throw fault("has the entry of another alert") }
            try entry.checkLink(after: last)
            guard entry.hash(with: input) == entry.hash else {
                throw fault("has a changed entry \(entry.event.sequence)")
            }
            last = entry.event.cursor
            // What comes after the head that was kept is shown by nothing.
            hasKept = kept == nil || last == kept
            for other in others {
                guard other.alert != id else {
                    throw fault("hides an entry about the alert after entry \(last.sequence)")
                }
                last = AuditHead(
                    sequence: last.sequence.addingBounded(1),
                    hash: AuditEntry.hash(
                        after: last.hash, about: other.alert, of: other.own, input))
                hasKept = hasKept || last == kept
            }
        }
        guard last == head else { throw fault("has a chain that does not end with its head") }
        guard hasKept else {
            throw fault(
                "does not reach the head that was kept: its chain goes from entry "
                    + "\(first.event.sequence) to entry \(head.sequence)")
        }
    }

    private func fault(_ what: String) -> AlertError { .inconsistent(id, "its receipt \(what)") }
}

// MARK: - As JSON

extension AlertReceipt {
    /// The receipt as one line of JSON, which <doc:AuditChain> describes.
    ///
    /// - Throws: Any error of the encoder.
    public func text() throws -> String { try json.text() }

    /// The same as a value.
    package var json: JSONValue {
        let asked = AlertJSON.asked(alert, id: id, source: alert.source)
        return .object([
            ("receipt", .string(Self.form)), ("alert", .object(asked)),
            ("note", .optional(input.note)), ("salt", .string(Hex.text(salt))),
            // These as the texts that are hashed.
            ("fields", .optional(alert.fieldsJSON)),
            ("values", .optional(input.text(for: alert.fields))),
            ("entries", .array(entries.map(\.exported))),
            (
                "between",
                .array(between.map { others in .array(others.map { .string($0.text) }) })
            ),
            ("head", .string(head.text)),
        ])
    }

    /// Reads what ``text()`` writes; ``check(expecting:)`` says whether it is true.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for a text that is no receipt.
    public init(_ text: String) throws(AlertError) {
        guard let json = try? JSONValue(parsing: Array(text.utf8)), json.members != nil else {
            throw Self.unreadable("is not a JSON object")
        }
        guard json["receipt"]?.string == Self.form else {
            throw Self.unreadable("is of another version: expected “receipt”: “\(Self.form)”")
        }
        guard let salt = json["salt"]?.string.flatMap({ Hex.bytes($0) }),
            let head = json["head"]?.string.flatMap({ AuditHead($0) }),
            let id = json["alert"]?["id"]?.integer
        else { throw Self.unreadable("lacks “salt”, “head” or the alert's “id”") }
        (self.salt, self.head, self.id) = (salt, head, id)
        do {
            let asked = try json["alert"]?.text() ?? ""
            alert = try JSONDecoder().decode(Alert.self, from: Data(asked.utf8))
        } catch {
            throw Self.unreadable("has an “alert” that can't be read: \(error)")
        }
        let values = json["values"]?.string.flatMap { try? JSONValue(parsing: Array($0.utf8)) }
        input = try Alert.Input(
            json: values ?? .object([]), note: json["note"]?.string, fields: alert.fields)
        entries = try (json["entries"]?.elements ?? []).map { value throws(AlertError) in
            guard let entry = AuditEntry(exported: value) else {
                throw Self.unreadable("has an entry that can't be read")
            }
            return entry
        }
        between = try (json["between"]?.elements ?? []).map { list throws(AlertError) in
            try (list.elements ?? []).map { value throws(AlertError) in
                guard let other = value.string.flatMap({ Other($0) }) else {
                    throw Self.unreadable("has a hash that can't be read")
                }
                return other
            }
        }
        // Nothing is in it that is not checked.
        guard let read = try? self.json.text(), let given = try? json.text(),
            read.utf8.elementsEqual(given.utf8)
        else { throw Self.unreadable("is not written as alertq receipt writes it") }
    }

    private static func unreadable(_ reason: String) -> AlertError { .invalid("receipt", reason) }
}

extension AlertReceipt.Other {
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Alert.ID(parts[0]), let own = Hex.bytes(parts[1]),
            own.count == SHA256.byteCount
        else { return nil }
        self.init(alert: number == 0 ? nil : number, own: own)
    }
}
