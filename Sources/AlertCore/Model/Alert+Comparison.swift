import TextFormats

// Whether two alerts ask the same question.

extension Alert {
    /// The first part of the content that differs from what is left of an erased alert: ids that
    /// are not labels, roles and the default button.
    package func firstDifference(fromErased left: Alert) -> String? {
        if style != left.style { return "style" }
        let isSame = zip(buttons, left.buttons).allSatisfy { mine, left in
            mine.role == left.role && (left.id == left.title || mine.id.isIdentical(to: left.id))
        }
        guard buttons.count == left.buttons.count, isSame else { return "set of buttons" }
        // A default button whose id was made from its label was erased with it.
        guard let name = left.defaultButton else { return nil }
        return defaultButton.isIdentical(to: name) ? nil : "default button"
    }

    /// The first part of the content that differs from what was asked before.
    package func firstDifference(from stored: Alert) -> String? {
        if !title.isIdentical(to: stored.title) { return "title" }
        if !message.isIdentical(to: stored.message) { return "message" }
        if style != stored.style { return "style" }
        if !buttons.flatMap(\.content).isIdentical(to: stored.buttons.flatMap(\.content)) {
            return "set of buttons"
        }
        if !fieldsJSON.isIdentical(to: stored.fieldsJSON) { return "set of fields" }
        if !defaultButton.isIdentical(to: stored.defaultButton) { return "default button" }
        if !isValidAsLong(as: stored) { return "validity" }
        return strings.isIdentical(to: stored.strings) ? nil : "userInfo"
    }

    /// Whether their answers are valid for the same time; an erasure leaves that.
    package func isValidAsLong(as stored: Alert) -> Bool {
        validFor?.milliseconds == stored.validFor?.milliseconds
    }

    /// The names and values of `userInfo`, in the order of the names.
    private var strings: [String] {
        userInfo.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.flatMap {
            [$0.key, $0.value]
        }
    }
}

extension Alert.Button {
    fileprivate var content: [String] { [id, title, role?.rawValue ?? ""] }
}

extension AlertRecord {
    /// Makes sure that a response belongs to what was asked, before an asker gets it.
    ///
    /// The audit log is searched by the alert's id. Only the asker knows whether the id still
    /// belongs to the same question.
    ///
    /// - Parameter asked: The record from when it was asked or joined.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the question is different.
    package func check(isThatOf asked: AlertRecord) throws(AlertError) {
        let part =
            if source != asked.source { "source" } else if askedAt != asked.askedAt {
                "time"
            } else if !alert.key.isIdentical(to: asked.alert.key) { "key" } else if isErased {
                asked.isErased ? nil : asked.alert.firstDifference(fromErased: alert)
            } else { asked.alert.firstDifference(from: alert) }
        guard let part else { return }
        throw .inconsistent(id, "its \(part) is not what this program asked")
    }
}

extension AlertRecord {
    /// Restores the texts that a purge has erased, when the same question is asked again.
    package mutating func restoreTexts(from asked: Alert) {
        var alert = alert
        alert.title = asked.title
        alert.message = asked.message
        alert.userInfo = asked.userInfo
        alert.defaultButton = asked.defaultButton
        alert.fields = asked.fields
        alert.buttons = asked.buttons.map { Alert.Button($0.title, id: $0.id, role: $0.role) }
        let (salt, givenAt, validSince) = (salt, givenAt, validSince)
        let (followsWallClock, followsServerClock) = (followsWallClock, followsServerClock)
        self = AlertRecord(
            id: id, alert: alert, source: source, state: state, askedAt: askedAt,
            presentedAt: presentedAt, expiresAt: expiresAt, snoozedUntil: snoozedUntil,
            snoozes: snoozes, response: response?.naming(alert))
        self.followsWallClock = followsWallClock
        self.followsServerClock = followsServerClock
        self.salt = salt
        (self.givenAt, self.validSince) = (givenAt, validSince)
    }
}

extension Response {
    /// The same response, with the button and the strings of an alert that still has its texts.
    fileprivate func naming(_ alert: Alert) -> Response {
        var response = Response(
            alertID: alertID, outcome: outcome, buttonIndex: buttonIndex,
            button: alert.buttons.indices.contains(buttonIndex) ? alert.buttons[buttonIndex] : nil,
            by: by, responder: responder, resolvedAt: resolvedAt, collectedAt: collectedAt,
            userInfo: alert.userInfo, cancelHandling: cancelHandling, input: input)
        response.supersededBy = supersededBy
        response.isStale = isStale
        return response
    }
}
