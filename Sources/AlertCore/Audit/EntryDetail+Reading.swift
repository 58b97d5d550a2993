import TextFormats

extension EntryDetail {
    /// Reads the detail of an entry of a kind; `nil` if no such entry says that, or not in these
    /// bytes: what is read has the same ``text`` again.
    package init?(_ text: String, of kind: AlertEvent.Kind, _ outcome: Outcome?) {
        var members = MemberReader(text)
        guard let detail = Self.read(&members, kind, outcome), members.isAtEnd else { return nil }
        self = detail
    }

    private static func read(
        _ members: inout MemberReader, _ kind: AlertEvent.Kind, _ outcome: Outcome?
    ) -> EntryDetail? {
        switch kind {
        case .asked: Asked(&members).map(EntryDetail.asked)
        case .snoozed: Moment(&members, "until").map(EntryDetail.snoozed)
        case .claimed: Moment(&members, "until").map(EntryDetail.claimed)
        case .resolved:
            switch outcome {
            case .answered, .dismissed, .withdrawn, nil:
                Answered(&members).map(EntryDetail.answered)
            case .expired: Expired(&members).map(EntryDetail.expired)
            case .cancelled:
                members.flag("handled")
                    ? .cancelled(isHandled: true)
                    : members.flag("simulated") ? .cancelled(isHandled: false) : nil
            }
        case .superseded: members.integer("by").map(EntryDetail.superseded)
        case .collected: members.reason("unused").map(EntryDetail.unused)
        case .returned:
            members.reason("reason").map { .returned(.reason($0)) }
                ?? members.string("error").map { .returned(.failed($0)) }
        case .ran: RunStep(&members).map(EntryDetail.ran)
        case .erased: ErasedAlerts(&members).map(EntryDetail.erased)
        case .restored:
            members.integer("contradicted_by").map(EntryDetail.contradicted)
                ?? RestoredQueue(&members).map(EntryDetail.restored)
        case .moved: QueueMove(&members).map(EntryDetail.moved)
        case .clock:
            if let offset = members.integer("offset_ms"), let step = members.integer("step_ms") {
                .clock(step: step, offset: offset)
            } else {
                nil
            }
        case .presented, .released, .cancelling, .other: nil
        }
    }
}

/// Reads the members of a canonical object one after the other: each is asked for by its name, in
/// the order of the names, and is left alone if another one comes next or its value has another
/// type or form.
struct MemberReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Whether the object ends after the members that were read, of which there must be one.
    var isAtEnd: Bool {
        index > 0 && index == bytes.count - 1 && bytes[index] == UInt8(ascii: "}")
    }

    mutating func integer<Number: FixedWidthInteger>(
        _ name: String, as type: Number.Type = Int64.self
    ) -> Number? {
        read(name) { value in
            let digits = String(decoding: value, as: UTF8.self)
            guard let number = Number(digits), String(number) == digits else { return nil }
            return number
        }
    }

    /// Bytes in lower-case hexadecimal.
    mutating func hash(_ name: String) -> [UInt8]? {
        read(name) { value in
            guard value.count >= 2, value.first == UInt8(ascii: "\""),
                value.last == UInt8(ascii: "\""),
                !value.contains(where: (UInt8(ascii: "A")...UInt8(ascii: "F")).contains)
            else { return nil }
            return Hex.bytes(value.dropFirst().dropLast())
        }
    }

    mutating func flag(_ name: String) -> Bool {
        read(name) { value in value.elementsEqual("true".utf8) ? true : nil } ?? false
    }

    mutating func string(_ name: String) -> String? {
        read(name) { value in Self.json(value)?.string }
    }

    mutating func reason(_ name: String) -> EntryReason? {
        string(name).map(EntryReason.init)
    }

    mutating func integers(_ name: String) -> [Int64]? {
        read(name) { value in
            guard let elements = Self.json(value)?.elements else { return nil }
            let numbers = elements.compactMap { element -> Int64? in
                if case .integer(let number) = element { number } else { nil }
            }
            return numbers.count == elements.count ? numbers : nil
        }
    }

    /// Moves past the member with a name, if that comes next and has a fitting value.
    private mutating func read<Value>(
        _ name: String, _ value: (_ bytes: ArraySlice<UInt8>) -> Value?
    ) -> Value? {
        let start = index
        if skip(start == 0 ? "{\"" : ",\""), skip(name), skip("\":") {
            let end = valueEnd
            if let found = value(bytes[index..<end]) {
                index = end
                return found
            }
        }
        index = start
        return nil
    }

    private mutating func skip(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            guard bytes[index...].starts(with: text) else { return false }
            index += text.count
            return true
        }
    }

    /// The value in its bytes, if they are its canonical form.
    private static func json(_ value: ArraySlice<UInt8>) -> JSONValue? {
        guard let json = try? JSONValue(parsing: Array(value)),
            json.canonical.utf8.elementsEqual(value)
        else { return nil }
        return json
    }

    /// Where the value that comes next ends: before the comma or the bracket that no string and no
    /// array has in it.
    private var valueEnd: Int {
        var (end, isQuoted, depth) = (index, false, 0)
        while end < bytes.count {
            switch bytes[end] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted: end += 1
            case _ where isQuoted: break
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ","), UInt8(ascii: "}"):
                if depth <= 0 { return end }
            default: break
            }
            end += 1
        }
        return bytes.count
    }
}

extension EntryDetail.Moment {
    fileprivate init?(_ members: inout MemberReader, _ name: String) {
        let start = members
        bootMilliseconds = members.integer(name + "_boot_ms")
        guard let wall = members.integer(name + "_ms") else {
            members = start
            return nil
        }
        wallMilliseconds = wall
    }
}

extension EntryDetail.Asked {
    fileprivate init?(_ members: inout MemberReader) {
        guard let boot = members.integer("asked_boot_ms") else { return nil }
        bootMilliseconds = boot
        expiry = EntryDetail.Moment(&members, "deadline")
        var lengths = [Int64?](repeating: nil, count: AlertProperty.terms.count)
        var (key, leaves, isAwaited): (KeyDigest?, [UInt8]?, Bool) = (nil, nil, false)
        for (name, part) in Self.parts {
            switch part {
            case .term(let index): lengths[index] = members.integer(name)
            case .key:
                guard let hash = members.hash(name) else { continue }
                guard let salt = members.hash("key_salt") else { return nil }
                key = KeyDigest(salt: salt, hash: hash)
            case .leaves: leaves = members.hash(name)
            case .waits: isAwaited = members.flag(name)
            }
        }
        guard let leaves else { return nil }
        (self.lengths, self.key, self.leaves, self.isAwaited) = (lengths, key, leaves, isAwaited)
    }
}

extension EntryDetail.Answered {
    fileprivate init?(_ members: inout MemberReader) {
        givenMilliseconds = members.integer("given_boot_ms")
        values = members.hash("values")
    }
}

extension EntryDetail.Expired {
    fileprivate init?(_ members: inout MemberReader) {
        guard let boot = members.integer("expired_boot_ms") else { return nil }
        bootMilliseconds = boot
        isEarly = members.flag("nobody_there")
        isUnseen = members.flag("unseen")
    }
}

extension RunStep {
    fileprivate init?(_ members: inout MemberReader) {
        if members.flag("started") {
            self = .started(allowsDefault: false)
        } else if members.flag("changed") {
            self = .changed
        } else if let status = members.integer("exit_status", as: Int32.self) {
            self = .exited(status: status)
        } else if let signal = members.integer("signal", as: Int32.self) {
            self = .signalled(signal)
        } else if let code = members.integer("errno", as: Int32.self) {
            self = .refused(code: code)
        } else {
            return nil
        }
    }
}

extension AuditEntry {
    /// What its detail says; `nil` if it has none, or one that can't be understood.
    package var meaning: EntryDetail? {
        detail.flatMap { EntryDetail($0, of: event.kind, event.outcome) }
    }

    /// Whether it has a detail of its kind, or none; of a kind that this version does not know, any
    /// could be.
    var hasOwnDetail: Bool {
        if case .other = event.kind { true } else { detail == nil || meaning != nil }
    }

    /// What the entry of an ask says; `nil` for another one.
    package var asked: EntryDetail.Asked? {
        if case .asked(let asked)? = meaning { asked } else { nil }
    }

    /// What the entry of an answer or a withdrawal says; `nil` for another one.
    var answered: EntryDetail.Answered? {
        if case .answered(let answered)? = meaning { answered } else { nil }
    }

    /// Whether a delegate handled a cancel; `nil` for another entry.
    var cancelHandling: CancelHandling? {
        if case .cancelled(let isHandled)? = meaning {
            CancelHandling(isHandled: isHandled)
        } else {
            nil
        }
    }

    /// What the entry of an expiry says; `nil` for another one.
    package var expired: EntryDetail.Expired? {
        if case .expired(let expired)? = meaning { expired } else { nil }
    }

    /// What the entry of a restore says; `nil` for another one.
    package var restored: RestoredQueue? {
        if case .restored(let restored)? = meaning { restored } else { nil }
    }

    /// Whether it tells of what a timer did, and names the process that noticed.
    var isOfTimer: Bool {
        event.outcome == .expired || (event.outcome == .dismissed && event.by == .system)
    }

    /// Whether it says who deals with an alert, or that nobody does any more.
    package var saysWhoDeals: Bool { event.kind == .claimed || event.kind == .released }

    /// Who deals with an alert from this entry on, and until when; `nil` for another entry.
    package var claim: AlertClaim? {
        guard case .claimed(let end)? = meaning else { return nil }
        return AlertClaim(by: caller, until: end.reading(in: boot))
    }

    /// The alerts whose texts an entry says were erased; `nil` for another entry.
    package var erasedAlerts: ErasedAlerts? {
        // Most entries are others, whose details need not be read.
        if event.kind == .erased, case .erased(let alerts)? = meaning { alerts } else { nil }
    }

    /// Where the queue has gone, according to the entry of a move; `nil` for another one.
    package var move: QueueMove? {
        event.kind == .moved ? QueueMove(detail: detail ?? "") : nil
    }
}
