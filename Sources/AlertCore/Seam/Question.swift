/// An alert on its way into the store.
package struct Question: Sendable, Codable {
    package var alert: Alert
    package var source: String
    /// How many alerts may wait for its source, and how many for its principal.
    package var pendingLimit: Int
    package var principalLimit: Int
    /// Whether its asker waits for the response, with a lease for as long as it does.
    package var isAwaited: Bool
    /// What becomes of an earlier alert with its key.
    package var join: Join
    /// Whether it is stored if there is nothing to join; otherwise asking throws
    /// ``AlertError/keyNotFound(_:)``.
    package var mayBeNew: Bool

    /// What a question makes of an earlier alert with its key.
    package enum Join: Sendable, Hashable, Codable {
        /// The same question is joined, and another one refused.
        case same
        /// Another question takes its place, and so does the same one if that has ended without an
        /// answer that may be used.
        case replacing
        /// The key is the stem of one for each time that the question is asked, which end in a number
        /// from 1. The last of them is joined while it waits, or for a response that nobody has
        /// taken and that may be used again; otherwise the question is asked with the next number.
        case numbered(Reuse)
    }

    /// Which response that nobody has taken is one to the same question when it is asked again.
    package struct Reuse: Sendable, Hashable, Codable {
        /// How long after it was given; `nil` means at any time.
        package var within: Duration?
        /// Whether also a default button that was applied at the deadline.
        package var byDefault: Bool

        package init(within: Duration? = nil, byDefault: Bool) {
            self.within = within
            self.byDefault = byDefault
        }
    }

    package init(
        alert: Alert, source: String, isAwaited: Bool = false, join: Join = .same,
        mayBeNew: Bool = true, pendingLimit: Int = Alert.Limit.pendingPerSource,
        principalLimit: Int = Alert.Limit.pendingPerPrincipal
    ) {
        self.alert = alert
        self.source = source
        self.isAwaited = isAwaited
        self.join = join
        self.mayBeNew = mayBeNew
        self.pendingLimit = pendingLimit
        self.principalLimit = principalLimit
    }
}

// MARK: - Numbered keys

extension Question {
    /// The stem of the keys of a question whose asker gives it none.
    ///
    /// - Parameters:
    ///   - kind: What kind of question it is; the keys begin with it.
    ///   - parts: What makes two questions the same; they are compared byte by byte.
    package static func stem(_ kind: String, of parts: [String]) -> String {
        "\(kind):\(digest(of: parts)):"
    }

    /// Texts as one that only they have.
    package static func digest(of parts: [String]) -> String {
        var bytes: [UInt8] = []
        for part in parts {
            // With their lengths, so that no two lists of parts are the same bytes.
            withUnsafeBytes(of: UInt64(part.utf8.count).littleEndian) { bytes += $0 }
            bytes += part.utf8
        }
        return Hex.text(SHA256.hash(of: bytes))
    }

    /// The question with the key of a number.
    package func numbered(_ number: Int) -> Question {
        var question = self
        question.alert.key = alert.key.map { "\($0)\(number)" }
        question.join = .same
        return question
    }

    /// The last alert of a question with numbered keys, and the next number.
    ///
    /// - Parameter find: Finds an alert by its key.
    package func last<Found>(
        _ find: (_ key: String) throws -> Found?
    ) rethrows -> (found: Found?, next: Int) {
        // They are used in order, so that few need to be looked at, however many there are.
        var (last, used, free): (Found?, Int, Int?) = (nil, 0, nil)
        while free != used + 1 {
            let number = free.map { used + ($0 - used) / 2 } ?? max(used * 2, 1)
            if let found = try find(numbered(number).alert.key ?? "") {
                (last, used) = (found, number)
            } else {
                free = number
            }
        }
        return (last, used + 1)
    }
}

/// A response that an asker has passed over, and why; the log says so, too.
package struct UnusedResponse: Sendable, Codable {
    package let record: AlertRecord
    package let reason: EntryReason

    package init(_ record: AlertRecord, because reason: EntryReason) {
        self.record = record
        self.reason = reason
    }
}
