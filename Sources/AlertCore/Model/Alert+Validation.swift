import TextFormats

extension Alert {
    /// The limits on the contents of an alert, in bytes of UTF-8 unless stated otherwise.
    package enum Limit {
        package static let title = 1 << 10
        package static let message = 64 << 10
        package static let buttonCount = 16
        package static let fieldCount = 8
        /// Of all fields' definitions as JSON.
        package static let fields = 32 << 10
        /// Of a field's text, and of a note.
        package static let value = 4 << 10
        /// Why a question is withdrawn.
        package static let reason = 1 << 10
        package static let presenterCount = 16
        package static let label = 256
        package static let userInfo = 16 << 10
        package static let name = 256
        /// How many alerts of one source may wait at once, by default.
        package static let pendingPerSource = 10_000
        /// How many alerts of one account may wait at once, across all its sources.
        package static let pendingPerPrincipal = 100_000
        /// 100 years: far beyond any use, and far from overflowing milliseconds.
        package static let duration = DurationText.longest
    }

    /// Checks everything that can be checked without the clock or the database.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``, which names the first part that is wrong.
    package func validate() throws(AlertError) {
        try Text.check(title, "title", limit: Limit.title)
        if let message {
            try Text.check(message, "message", limit: Limit.message, mayBeEmpty: true)
        }
        try validateButtons()
        try validateFields()
        try validateNames()
        try validateTimes()
        var userInfoBytes = 0
        for (name, value) in userInfo {
            try Text.check(name, "name in info", limit: Limit.userInfo)
            try Text.check(value, "value in info", limit: Limit.userInfo, mayBeEmpty: true)
            userInfoBytes += name.utf8.count + value.utf8.count
        }
        guard userInfoBytes <= Limit.userInfo else {
            throw .invalid("info", "has \(userInfoBytes) bytes; at most \(Limit.userInfo)")
        }
    }

    private func validateButtons() throws(AlertError) {
        guard buttons.count <= Limit.buttonCount else {
            throw .invalid("alert", "has \(buttons.count) buttons; at most \(Limit.buttonCount)")
        }
        var ids: Set<[UInt8]> = []
        for button in buttons {
            try Text.check(button.title, "label of a button", limit: Limit.label)
            try Text.check(id: button.id, "id of a button")
            guard ids.insert(Array(button.id.utf8)).inserted else {
                throw .invalid(
                    "alert", "has two buttons with the id “\(button.id)”; ids are unique")
            }
        }
        for button in buttons {
            let namesake = buttons.first { other in
                !other.id.isIdentical(to: button.id) && other.title.isIdentical(to: button.id)
                    && !(other.hasIDFromLabel && other.title.isIdentical(to: button.title))
            }
            if let namesake {
                throw .invalid(
                    "alert",
                    "has a button with the id “\(button.id)”, which is the label of another one, "
                        + "“\(namesake.id)”: an answer with that word could mean either; give the "
                        + "first another id")
            }
        }
        guard buttons.count(where: { $0.role == .cancel }) <= 1 else {
            throw .invalid("alert", "has two buttons with the role cancel; at most one is allowed")
        }
        if let defaultButton {
            guard deadline != nil else {
                throw .invalid("default button", "needs a deadline at which it is applied")
            }
            guard buttonIndex(id: defaultButton) >= 0 else {
                let known = buttons.map(\.id).joined(separator: ", ")
                throw .invalid(
                    "default button", "“\(defaultButton)” is not one of the buttons: \(known)")
            }
        }
    }

    private func validateNames() throws(AlertError) {
        if let source { try Text.check(source, "source", limit: Limit.name) }
        if let key { try Text.check(key, "key", limit: Limit.name) }
        if let handler { try Text.check(handler, "handler", limit: Limit.name) }
        guard let presenters else { return }
        guard !presenters.isEmpty, presenters.count <= Limit.presenterCount else {
            throw .invalid(
                "presenters", "must be 1 to \(Limit.presenterCount) names, or nil for all")
        }
        for name in presenters { try Text.check(name, "name of a presenter", limit: Limit.name) }
    }

    private func validateTimes() throws(AlertError) {
        if case .after(let duration) = deadline { try Self.check(duration, "deadline") }
        if let dismissAfter {
            guard buttons.isEmpty else {
                throw .invalid("dismissal time", "is for alerts without buttons; set a deadline")
            }
            try Self.check(dismissAfter, "dismissal time")
        }
        if let snooze { try Self.check(snooze, "snooze") }
        if let validFor {
            guard !buttons.isEmpty else {
                throw .invalid("validity", "is for alerts with buttons")
            }
            try Self.check(validFor, "validity")
        }
    }

    /// Checks a length of time: more than zero and at most 100 years.
    package static func check(_ duration: Duration, _ part: String) throws(AlertError) {
        guard duration > .zero else {
            throw .invalid(part, "is \(duration); it must be more than zero")
        }
        guard duration <= Limit.duration else {
            throw .invalid(part, "is longer than 100 years")
        }
    }
}

/// The rules for every text that comes from outside.
package enum Text {
    /// Checks an id that is not for people: programs print it on a line of its own, or as a column.
    static func check(id: String, _ part: String) throws(AlertError) {
        try check(id, part, limit: Alert.Limit.label)
        guard let scalar = id.unicodeScalars.first(where: \.isControl) else { return }
        throw .invalid(
            part,
            "contains \(SafeText.codePoint(scalar)), a control character; a label may have one, with "
                + "an id of its own")
    }

    /// Checks a text's length in bytes, and that it contains no NUL.
    package static func check(
        _ text: String, _ part: String, limit: Int, mayBeEmpty: Bool = false
    ) throws(AlertError) {
        let count = text.utf8.count
        guard mayBeEmpty || count > 0 else { throw .invalid(part, "is empty") }
        guard mayBeEmpty || !text.isBlank else { throw .invalid(part, "is blank") }
        guard count <= limit else {
            throw .invalid(part, "has \(count) bytes; at most \(limit)")
        }
        guard !text.utf8.contains(0) else { throw .invalid(part, "contains a NUL character") }
    }
}
