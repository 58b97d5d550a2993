import FoundationEssentials
import TextFormats

// Codable conformances of alerts, records and responses: the JSON that the command prints.

/// The keys of that JSON, but for those of properties; see ``AlertProperty/name``.
private enum Name: String, CodingKey {
    case id, source, state
    case askedAt = "asked_at"
    case presentedAt = "presented_at"
    case resolvedAt = "resolved_at"
    case collectedAt = "collected_at"
    case expiresAt = "expires_at"
    case snoozedUntil = "snoozed_until"
    case snoozes, outcome, button
    case buttonIndex = "button_index"
    case by, responder
    case expiresBy = "expires_by"
    case timeout = "timeout_ms"
    case handled, seen, info
    case buttonTitle = "button_title"
    case buttonRole = "button_role"
    case title, role, uid, user, via, tty, ssh, host, pid, stored, orphaned
    case values, note
    case supersededBy = "superseded_by"
    case stale
    case accountHost = "account_host"
    case contradicted, principal, means
    case claimedBy = "claimed_by"
    case claimedUntil = "claimed_until"
}

private typealias Members = KeyedDecodingContainer<Name>

extension Alert: Codable {
    /// Reads an alert from the JSON that `alertq show --json` prints; the members of a response are
    /// ignored.
    ///
    /// Leave the decoder's key strategy at its default. Absent or `null` members have their
    /// defaults; only `title` is required. Actions of buttons are not included. The limits are
    /// checked when the alert is asked.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        self.init(try members.decode(String.self, forKey: .title))
        try read(decoder, members)
        if let timeout = try members.decodeIfPresent(Int64.self, forKey: .timeout) {
            deadline = .after(.milliseconds(timeout))
        }
    }

    fileprivate mutating func read(_ decoder: any Decoder, _ members: Members) throws {
        let properties = try decoder.container(keyedBy: AlertProperty.Key.self)
        for property in AlertProperty.all { try property.read(properties, into: &self) }
        deadline = try members.dateIfPresent(.expiresAt).map { .at($0) }
        source = try members.decodeIfPresent(String.self, forKey: .source)
    }

    /// Writes the alert as the JSON that `alertq show --json` prints, without its closures. Leave
    /// the encoder's key strategy at its default: the names in `info` are keys, too.
    ///
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        try AlertJSON.value(self, source: source, record: nil).encode(to: encoder)
    }
}

extension AlertRecord: Codable {
    /// Reads a line printed by `alertq show --json` and other verbs.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        let id = try members.decode(Int64.self, forKey: .id)
        let title = try members.decodeIfPresent(String.self, forKey: .title)
        // The title of an erased alert is its number.
        var alert = Alert(title ?? "#\(id)")
        try alert.read(decoder, members)
        self.init(
            id: id, alert: alert,
            source: Source(
                name: try members.decode(String.self, forKey: .source), try members.principal(),
                try members.means()),
            state: try members.word(State.self, .state), askedAt: try members.date(.askedAt),
            presentedAt: try members.dateIfPresent(.presentedAt),
            expiresAt: try members.dateIfPresent(.expiresAt),
            snoozedUntil: try members.dateIfPresent(.snoozedUntil),
            snoozes: try members.decode(Int.self, forKey: .snoozes),
            response: try members.response(to: id, alert))
        let clock = try members.decodeIfPresent(String.self, forKey: .expiresBy)
        followsWallClock = clock == AlertJSON.onWallClock
        followsServerClock = clock == AlertJSON.onServerClock
        isErased = title == nil
        seen = try members.decodeIfPresent(String.self, forKey: .seen)
        isStored = try members.decodeIfPresent(Bool.self, forKey: .stored) ?? true
        isOrphaned = try members.decodeIfPresent(Bool.self, forKey: .orphaned) ?? false
        isContradicted = try members.decodeIfPresent(Bool.self, forKey: .contradicted) ?? false
        if let by = try members.caller(.claimedBy) {
            claim = AlertClaim(by: by, until: try members.date(.claimedUntil))
        }
    }

    /// Writes the line that `alertq show --json` prints.
    ///
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        try AlertJSON.value(alert, source: source.name, record: self).encode(to: encoder)
    }
}

extension Response: Codable {
    /// Reads a response that was encoded alone, or the response in a line printed by `alertq show
    /// --json`.
    ///
    /// - Throws: `DecodingError`, also if there is no response yet.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        let id = try members.decode(Int64.self, forKey: .id)
        let isLine = members.contains(.state)
        let alert = isLine ? try AlertRecord(from: decoder).alert : nil
        guard let response = try members.response(to: id, alert) else {
            throw DecodingError.valueNotFound(
                Outcome.self,
                DecodingError.Context(
                    codingPath: decoder.codingPath + [Name.outcome],
                    debugDescription: "alert \(id) has no response yet"))
        }
        self = response
    }

    /// Writes the response with the keys that it has in the line printed by `alertq show --json`;
    /// `button_title` and `button_role` describe the button.
    ///
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        try AlertJSON.value(self).encode(to: encoder)
    }
}

// MARK: - Reading the members

extension Members {
    /// The response to an alert, or to one of which only the number is known; `nil` if there is
    /// none.
    fileprivate func response(to id: Alert.ID, _ alert: Alert?) throws -> Response? {
        guard let outcome = try wordIfPresent(Outcome.self, .outcome) else { return nil }
        let index = try decode(Int.self, forKey: .buttonIndex)
        let isHandled = try decodeIfPresent(Bool.self, forKey: .handled)
        var response = Response(
            alertID: id, outcome: outcome, buttonIndex: index,
            button: try alert.map { $0.buttons.indices.contains(index) ? $0.buttons[index] : nil }
                ?? button(),
            by: try word(ResolvedBy.self, .by), responder: try caller(.responder),
            resolvedAt: try date(.resolvedAt),
            collectedAt: try dateIfPresent(.collectedAt),
            userInfo: try decodeIfPresent([String: String].self, forKey: .info) ?? [:],
            cancelHandling: outcome == .cancelled
                ? CancelHandling(isHandled: isHandled ?? false) : nil,
            input: Alert.Input(
                values: try decodeIfPresent([String: Alert.Value].self, forKey: .values) ?? [:],
                note: try decodeIfPresent(String.self, forKey: .note)))
        response.supersededBy = try decodeIfPresent(Int64.self, forKey: .supersededBy)
        response.isStale = try decodeIfPresent(Bool.self, forKey: .stale) ?? false
        return response
    }

    private func button() throws -> Alert.Button? {
        guard let title = try decodeIfPresent(String.self, forKey: .buttonTitle) else { return nil }
        return Alert.Button(
            title, id: try decodeIfPresent(String.self, forKey: .button),
            role: try wordIfPresent(Alert.Button.Role.self, .buttonRole))
    }

    fileprivate func caller(_ name: Name) throws -> Caller? {
        guard contains(name), try !decodeNil(forKey: name) else { return nil }
        let members = try nestedContainer(keyedBy: Name.self, forKey: name)
        return Caller(
            try members.principal(), via: try members.decode(String.self, forKey: .via),
            means: try members.means(), tty: try members.decodeIfPresent(String.self, forKey: .tty),
            ssh: try members.decodeIfPresent(String.self, forKey: .ssh))
    }

    fileprivate func principal() throws -> Principal {
        let text = try decode(String.self, forKey: .principal)
        // The object of an alert has no name of its asker.
        guard
            let principal = contains(.user)
                ? Principal(text: text, user: try decodeIfPresent(String.self, forKey: .user))
                : Principal(text: text)
        else { throw unknown(text, .principal) }
        return principal
    }

    fileprivate func means() throws -> Means {
        let text = try decodeIfPresent(String.self, forKey: .means)
        let means = Means(
            text: text, host: try decodeIfPresent(String.self, forKey: .host),
            pid: try decodeIfPresent(Int32.self, forKey: .pid))
        guard let means else { throw unknown(text ?? "", .means) }
        return means
    }

    fileprivate func date(_ name: Name) throws -> Date {
        let text = try decode(String.self, forKey: name)
        guard let date = Timestamp.rfc3339(text) else { throw unknown(text, name) }
        return date
    }

    fileprivate func dateIfPresent(_ name: Name) throws -> Date? {
        try decodeIfPresent(String.self, forKey: name) == nil ? nil : try date(name)
    }
}

// MARK: - Reading the properties

private typealias Properties = KeyedDecodingContainer<AlertProperty.Key>

extension AlertProperty {
    fileprivate struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads it into an alert, which keeps what it has if the property is absent or `null`.
    fileprivate func read(_ members: Properties, into alert: inout Alert) throws {
        let key = Key(stringValue: name)
        guard try members.contains(key) && !members.decodeNil(forKey: key) else { return }
        switch form {
        case .title: alert.title = try members.decode(String.self, forKey: key)
        case .style: alert.style = try members.word(Alert.Style.self, key)
        case .priority:
            let word = try members.decode(String.self, forKey: key)
            guard let priority = Alert.Priority(word: word) else {
                throw members.unknown(word, key, known: Alert.Priority.allCases.map(\.word))
            }
            alert.priority = priority
        case .buttons: alert.buttons = try members.buttons(key)
        case .fields: alert.fields = try members.decode([Alert.Field].self, forKey: key)
        case .text(_, let set): set(&alert, try members.decode(String.self, forKey: key))
        case .duration(_, let set):
            set(&alert, .milliseconds(try members.decode(Int64.self, forKey: key)))
        case .names(_, let set): set(&alert, try members.decode([String].self, forKey: key))
        case .strings(_, let set):
            set(&alert, try members.decode([String: String].self, forKey: key))
        }
    }
}

extension Properties {
    fileprivate func buttons(_ key: Key) throws -> [Alert.Button] {
        var list = try nestedUnkeyedContainer(forKey: key)
        var buttons: [Alert.Button] = []
        while !list.isAtEnd {
            let button = try list.nestedContainer(keyedBy: Name.self)
            // An erased label reads as the button's index.
            let title = try button.decodeIfPresent(String.self, forKey: .title)
            buttons.append(
                Alert.Button(
                    title ?? "#\(buttons.count)",
                    id: try button.decodeIfPresent(String.self, forKey: .id),
                    role: try button.wordIfPresent(Alert.Button.Role.self, .role)))
        }
        return buttons
    }
}

extension KeyedDecodingContainer {
    fileprivate func word<Word: RawRepresentable<String> & CaseIterable>(
        _ type: Word.Type, _ name: Key
    ) throws -> Word {
        let text = try decode(String.self, forKey: name)
        guard let word = Word(rawValue: text) else {
            throw unknown(text, name, known: Word.allCases.map(\.rawValue))
        }
        return word
    }

    fileprivate func wordIfPresent<Word: RawRepresentable<String> & CaseIterable>(
        _ type: Word.Type, _ name: Key
    ) throws -> Word? {
        try decodeIfPresent(String.self, forKey: name) == nil ? nil : try word(type, name)
    }

    fileprivate func unknown(
        _ text: String, _ name: Key, known: [String] = []
    ) -> DecodingError {
        var reason = "“\(SafeText.line(text))” is not a value of \(name.stringValue)"
        if !known.isEmpty { reason += ": " + known.joined(separator: ", ") }
        return DecodingError.dataCorruptedError(
            forKey: name, in: self, debugDescription: reason)
    }
}

// MARK: - Fields and values

extension Alert.Field: Codable {
    /// Reads a property of a JSON Schema with the member `id`, and `required` if it is.
    ///
    /// - Throws: `DecodingError`, also for a schema that no field can have.
    public init(from decoder: any Decoder) throws {
        let json = try JSONValue(from: decoder)
        do { try self.init(json: json) } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: error.description))
        }
    }

    /// Writes it as a property of a JSON Schema with the member `id`.
    ///
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension Alert.Value: Codable {
    /// Reads a text, a number, `true` or `false`, or a list of texts.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        guard let value = Alert.Value(json: try JSONValue(from: decoder)) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "it is no field's value"))
        }
        self = value
    }

    /// Writes the value as JSON.
    ///
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
