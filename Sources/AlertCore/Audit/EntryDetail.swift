import FoundationEssentials
import Glibc
import TextFormats

/// What an entry of the audit log says beside its columns: data for the rules, of which words for
/// people are made where they are shown.
///
/// It is stored as canonical JSON: an object with its members in the order of their names, without
/// blanks, escaped as in RFC 8785, <https://www.rfc-editor.org/rfc/rfc8785>. Values are integers,
/// strings, `true`, and arrays of integers. So there is one way to write each, which the hash of the
/// entry covers. <doc:AuditChain> has the members of each kind of entry.
///
/// The log keeps it for ever, so that it has no text of an alert, and nothing that anybody typed but
/// paths of files, programs and devices.
package enum EntryDetail: Sendable, Hashable {
    case asked(Asked)
    case snoozed(until: Moment)
    case claimed(until: Moment)
    /// That an answer goes stale, or came with values or a note; of a withdrawal, that it has a
    /// reason.
    case answered(Answered)
    case expired(Expired)
    /// Whether a delegate handled a cancel; otherwise the cancel button was simulated.
    case cancelled(isHandled: Bool)
    /// The alert that was asked in the place of another one.
    case superseded(by: Alert.ID)
    /// Why the asker does not use the response that it has taken.
    case unused(EntryReason)
    case returned(Return)
    /// The entry of a restored backup's log that contradicted an alert there.
    case contradicted(by: Int64)
    case ran(RunStep)
    case erased(ErasedAlerts)
    case restored(RestoredQueue)
    case moved(QueueMove)
    /// By how much a server's clock was set, and how far the queue's time is ahead of it since then,
    /// in milliseconds.
    case clock(step: Int64, offset: Int64)

    /// Why an alert left the screen.
    package enum Return: Sendable, Hashable, Codable {
        case reason(EntryReason)
        /// An error; see ``LoggedError``.
        case failed(String)
    }

    /// A deadline, or the end of a snooze or a claim.
    package struct Moment: Sendable, Hashable {
        package let wallMilliseconds: Int64
        /// When it has come by the boot clock; `nil` for a moment of the wall clock.
        package let bootMilliseconds: Int64?

        package init(_ reading: ClockReading) {
            wallMilliseconds = reading.wallMilliseconds
            bootMilliseconds = reading.isOnWallClock ? nil : reading.bootMilliseconds
        }

        /// The moment, in the boot of the entry that has it.
        func reading(in boot: String) -> ClockReading {
            Expiry.moment(
                wallMilliseconds: wallMilliseconds, bootMilliseconds: bootMilliseconds, boot: boot)
                ?? ClockReading(onWallClock: wallMilliseconds)
        }
    }

    /// What an ask's entry has beside the hash of its content.
    package struct Asked: Sendable, Hashable {
        /// When it was asked, by the boot clock.
        package let bootMilliseconds: Int64
        package let expiry: Moment?
        /// The milliseconds of ``AlertProperty/terms``.
        package let lengths: [Int64?]
        /// Whether the asker waits for the response.
        package let isAwaited: Bool
        /// The hash of what an erasure leaves of the alert.
        package let leaves: [UInt8]
        /// The digest of what is compared when the key is used again.
        package let key: KeyDigest?

        /// - Parameters:
        ///   - asked: When it was asked; what is not known yet can be set later.
        ///   - expiry: Its deadline, as it is stored.
        package init(
            at asked: ClockReading? = nil, expiry: ClockReading? = nil, of alert: Alert,
            isAwaited: Bool, leaves: [UInt8], key: KeyDigest?
        ) {
            bootMilliseconds = asked?.bootMilliseconds ?? 0
            self.expiry = expiry.map(Moment.init)
            lengths = AlertProperty.terms.map { $0.milliseconds(of: alert) }
            self.isAwaited = isAwaited
            self.leaves = leaves
            self.key = key
        }
    }

    package struct Answered: Sendable, Hashable {
        /// When it was given, by the boot clock; `nil` if it doesn't go stale.
        package let givenMilliseconds: Int64?
        /// The hash of the values and the note, salted with the alert's salt.
        package let values: [UInt8]?

        /// - Returns: `nil` if there is nothing to say.
        package init?(_ response: Response, of record: AlertRecord, givenAt: ClockReading?) {
            givenMilliseconds = givenAt?.bootMilliseconds
            values = Self.hash(response.input, for: record.alert.fields, salt: record.salt)
            if givenMilliseconds == nil, values == nil { return nil }
        }

        /// The salted hash of values and note; `nil` if there are none.
        static func hash(
            _ input: Alert.Input, for fields: [Alert.Field], salt: [UInt8]?
        ) -> [UInt8]? {
            guard !input.isEmpty, let salt else { return nil }
            let hash = HashInput("alertq-values-1")
            hash.append(hex: salt)
            hash.append(input.note)
            hash.append(input.text(for: fields))
            return hash.hash
        }
    }

    package struct Expired: Sendable, Hashable {
        package let bootMilliseconds: Int64
        /// Whether it came before the deadline, because nobody was there.
        package let isEarly: Bool
        /// Whether the alert was never on a screen.
        package let isUnseen: Bool

        package init(at now: ClockReading, isEarly: Bool, isUnseen: Bool) {
            bootMilliseconds = now.bootMilliseconds
            self.isEarly = isEarly
            self.isUnseen = isUnseen
        }
    }
}

// MARK: - Writing

extension EntryDetail {
    /// The stored text.
    package var text: String { JSONValue.object(members).canonical }

    /// What it has, in the order of the names.
    private var members: [(key: String, value: JSONValue)] {
        switch self {
        case .asked(let asked): asked.members
        case .snoozed(let end), .claimed(let end): end.members("until")
        case .answered(let answered): answered.members
        case .expired(let expired): expired.members
        case .cancelled(let isHandled): [(isHandled ? "handled" : "simulated", .bool(true))]
        case .superseded(let id): [("by", .integer(id))]
        case .unused(let reason): [("unused", .string(reason.rawValue))]
        case .returned(.reason(let reason)): [("reason", .string(reason.rawValue))]
        case .returned(.failed(let error)): [("error", .string(error))]
        case .contradicted(let sequence): [("contradicted_by", .integer(sequence))]
        case .ran(let step): step.members
        case .erased(let alerts): alerts.members
        case .restored(let restored): restored.members
        case .moved(let move): move.members
        case .clock(let step, let offset):
            [("offset_ms", .integer(offset)), ("step_ms", .integer(step))]
        }
    }
}

/// Members of a detail, of which some may be absent.
private typealias Members = [(key: String, value: JSONValue)]

extension Members {
    fileprivate mutating func add(_ name: String, _ number: Int64?) {
        if let number { append((name, .integer(number))) }
    }

    fileprivate mutating func add(_ name: String, _ hash: [UInt8]?) {
        if let hash { append((name, .string(Hex.text(hash)))) }
    }

    fileprivate mutating func add(_ name: String, if isSet: Bool) {
        if isSet { append((name, .bool(true))) }
    }
}

extension EntryDetail.Moment {
    fileprivate func members(_ name: String) -> [(key: String, value: JSONValue)] {
        var members: Members = []
        members.add(name + "_boot_ms", bootMilliseconds)
        members.add(name + "_ms", wallMilliseconds)
        return members
    }
}

extension EntryDetail.Asked {
    fileprivate var members: [(key: String, value: JSONValue)] {
        Self.times(bootMilliseconds, expiry) + termMembers
    }

    /// What depends on when it is asked: the first members.
    private static func times(
        _ asked: Int64, _ expiry: EntryDetail.Moment?
    ) -> [(key: String, value: JSONValue)] {
        var members: Members = [("asked_boot_ms", .integer(asked))]
        if let expiry { members += expiry.members("deadline") }
        return members
    }

    /// What doesn't.
    enum Part {
        /// That of ``AlertProperty/terms`` at this index.
        case term(Int)
        case key, leaves, waits
    }

    /// The parts that don't depend on when it is asked, in the order of their names.
    static let parts: [(String, Part)] = {
        let terms = AlertProperty.terms.enumerated().map { ($1.name, Part.term($0)) }
        let others = [("key", Part.key), ("leaves", .leaves), ("waits", .waits)]
        return (terms + others).sorted { $0.0 < $1.0 }
    }()

    private var termMembers: [(key: String, value: JSONValue)] {
        var members: Members = []
        members.reserveCapacity(Self.parts.count + 1)
        for (name, part) in Self.parts {
            switch part {
            case .term(let index): members.add(name, lengths[index])
            case .key:
                members.add(name, key?.hash)
                members.add("key_salt", key?.salt)
            case .leaves: members.add(name, leaves)
            case .waits: members.add(name, if: isAwaited)
            }
        }
        return members
    }

    /// The text of what doesn't depend on when it is asked, for ``text(at:expiry:terms:)``.
    package var terms: String { JSONValue.object(termMembers).canonical }

    /// The stored text of an ask whose ``terms`` are known: the asking tasks prepare those, because
    /// they share a store's writer.
    package static func text(
        at asked: ClockReading, expiry: ClockReading?, terms: String
    ) -> String {
        let times = times(asked.bootMilliseconds, expiry.map(EntryDetail.Moment.init))
        var text = JSONValue.object(times).canonical
        text.removeLast()
        text += ","
        text += terms.dropFirst()
        return text
    }
}

extension EntryDetail.Answered {
    fileprivate var members: [(key: String, value: JSONValue)] {
        var members: Members = []
        members.add("given_boot_ms", givenMilliseconds)
        members.add("values", values)
        return members
    }
}

extension EntryDetail.Expired {
    fileprivate var members: [(key: String, value: JSONValue)] {
        var members: Members = []
        members.add("expired_boot_ms", bootMilliseconds)
        members.add("nobody_there", if: isEarly)
        members.add("unseen", if: isUnseen)
        return members
    }
}

extension RunStep {
    fileprivate var members: [(key: String, value: JSONValue)] {
        switch self {
        case .started: [("started", .bool(true))]
        case .exited(let status): [("exit_status", .integer(Int64(status)))]
        case .signalled(let signal): [("signal", .integer(Int64(signal)))]
        case .changed: [("changed", .bool(true))]
        case .refused(let code): [("errno", .integer(Int64(code)))]
        }
    }
}

// MARK: - Words for people

extension AuditEntry {
    /// What its detail says to people; the detail as it is if it can't be understood, and the reason
    /// of a withdrawal.
    package func words(_ form: LocalTime.Form) -> String? {
        event.outcome == .withdrawn ? note : meaning.map { $0.words(form) } ?? detail
    }
}

extension EntryDetail {
    /// What it says to people, without hashes; `nil` if nothing is left.
    package func words(_ form: LocalTime.Form) -> String? {
        switch self {
        case .asked(let asked):
            let terms = zip(AlertProperty.terms, asked.lengths).map { property, milliseconds in
                milliseconds.map { "\(property.term ?? property.name) \($0) ms" }
            }
            let end = asked.expiry.map { "expires " + $0.words(form) }
            let parts = ([end] + terms + [asked.isAwaited ? "awaited" : nil]).compactMap(\.self)
            return parts.isEmpty ? nil : parts.joined(separator: "; ")
        case .snoozed(let end), .claimed(let end): return "until " + end.words(form)
        case .answered: return nil
        case .expired(let expired):
            return (expired.isEarly ? "nobody was there; " : "")
                + (expired.isUnseen ? "unseen; " : "")
                + "expired at \(expired.bootMilliseconds) ms"
        case .cancelled(let isHandled):
            return isHandled ? "handled by the delegate" : "the cancel button was simulated"
        case .superseded(let id): return "by \(id)"
        case .unused(let reason), .returned(.reason(let reason)): return reason.words
        case .returned(.failed(let error)): return error
        case .contradicted(let sequence): return "contradicted by entry \(sequence)"
        case .ran(let step): return step.words
        case .erased(let alerts): return alerts.words
        case .restored(let restored): return restored.words
        case .moved(let move): return (move.hasArrived ? "at " : "to ") + move.place
        case .clock(let step, let offset):
            return "the server's clock was set by \(step) ms; the queue's time is ahead of it by "
                + "\(offset) ms"
        }
    }
}

extension EntryDetail.Moment {
    fileprivate func words(_ form: LocalTime.Form) -> String {
        LocalTime.text(Timestamp.date(milliseconds: wallMilliseconds), form)
            + (bootMilliseconds.map { ", boot clock \($0) ms" } ?? ", wall clock")
    }
}

extension RunStep {
    fileprivate var words: String {
        switch self {
        case .started: "started"
        case .exited(let status): "exit status \(status)"
        case .signalled(let signal): "ended by signal \(signal)"
        case .changed: "not started: the command has changed"
        case .refused(let code): "not started: \(String(cString: strerror(code)))"
        }
    }
}
