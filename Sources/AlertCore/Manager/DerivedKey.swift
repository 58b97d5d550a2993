/// The keys of a question whose asker gives it none: one for each time that it is asked.
///
/// Asking again joins the alert for as long as it waits, and gets its response for as long as
/// nobody has collected it, so that nothing is lost when an asker dies. After that, or once the
/// alert was withdrawn, the same words are a new question.
package struct DerivedKey: Sendable {
    private let stem: String

    /// - Parameters:
    ///   - kind: What kind of question it is; the keys begin with it.
    ///   - parts: What makes two questions the same; they are compared byte by byte.
    package init(_ kind: String, of parts: [String]) {
        stem = "\(kind):\(Self.digest(of: parts)):"
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

    /// The key to ask with now: the first one that has no response, or one to be collected.
    ///
    /// - Parameter source: Who asks; `nil` means the manager's own source.
    package func current(
        _ manager: AlertManager, of source: String? = nil
    ) async throws(AlertError) -> String {
        key(try await currentNumber(manager, of: source))
    }

    /// The number of the ``current(_:of:)`` key; the keys after it are free, or their alerts wait.
    package func currentNumber(
        _ manager: AlertManager, of source: String? = nil
    ) async throws(AlertError) -> Int {
        let source = source ?? manager.source
        // They are used in order, so that few need to be looked at, however many there are.
        var (used, free) = (0, 1)
        while try await isUsed(free, manager, source) { (used, free) = (free, free * 2) }
        while free - used > 1 {
            let middle = used + (free - used) / 2
            if try await isUsed(middle, manager, source) { used = middle } else { free = middle }
        }
        return free
    }

    package func key(_ number: Int) -> String { stem + "\(number)" }

    private func isUsed(
        _ number: Int, _ manager: AlertManager, _ source: String
    ) async throws(AlertError) -> Bool {
        do {
            let record = try await manager.record(key: key(number), of: source)
            guard let response = record.response else { return false }
            return response.collectedAt != nil || response.outcome == .withdrawn
        } catch AlertError.keyNotFound {
            return false
        }
    }
}
