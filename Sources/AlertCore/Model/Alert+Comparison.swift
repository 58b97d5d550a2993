import TextFormats

// Whether two alerts ask the same question.

extension Alert {
    /// The first part of the content that differs from what is left of an erased alert: ids that
    /// are not labels, roles and the default button.
    package func firstDifference(fromErased left: Alert) -> String? {
        let kept = AlertProperty.content.filter { $0.erasure == .kept }
        if let part = Self.firstDifference(of: self, left, in: kept) { return part }
        let isSame = zip(buttons, left.buttons).allSatisfy { mine, left in
            mine.role == left.role && (left.id == left.title || mine.id.isIdentical(to: left.id))
        }
        guard buttons.count == left.buttons.count, isSame else { return "set of buttons" }
        // A default button whose id was made from its label was erased with it.
        guard let name = left.defaultButton else { return nil }
        return defaultButton.isIdentical(to: name) ? nil : "default button"
    }

    /// The first part that differs from what was asked before.
    package func firstDifference(from stored: Alert) -> String? {
        Self.firstDifference(of: self, stored, in: AlertProperty.all)
    }

    /// The first of the terms that differs from what was asked before; an erasure leaves those.
    package func firstDifference(fromTermsOf stored: Alert) -> String? {
        Self.firstDifference(of: self, stored, in: AlertProperty.terms)
    }

    /// What must be the same each time that it is asked with one key, as a text that only that has.
    package var identity: String {
        let input = HashInput("alertq-question-1")
        for property in AlertProperty.all where property.difference != nil {
            input.append(property, of: self)
        }
        return Hex.text(input.hash)
    }

    private static func firstDifference(
        of asked: Alert, _ stored: Alert, in properties: [AlertProperty]
    ) -> String? {
        properties.first { $0.difference != nil && !$0.isSame(in: asked, stored) }?.difference
    }
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
        for property in AlertProperty.erased { property.copy(from: asked, to: &alert) }
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
