import FoundationEssentials

/// A caller's own name for one call of ``AlertStore/commit(_:request:by:under:)``, with which the
/// call is found again if its reply was lost.
///
/// A store keeps it for a day.
package struct IdempotencyKey: Sendable, Hashable, Codable {
    package let bytes: [UInt8]

    /// A new one, of 16 random bytes.
    package init() { bytes = (0..<16).map { _ in .random(in: .min ... .max) } }

    /// That of a text that a client has made for its request.
    package init(of text: String) {
        let input = HashInput("alertq-request-1")
        input.append(text)
        bytes = Array(input.hash.prefix(16))
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let bytes = Hex.bytes(text), bytes.count == 16 else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not 32 hexadecimal digits")
        }
        self.bytes = bytes
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Hex.text(bytes))
    }
}

/// A change that a caller has given a name: the one at a position of a request.
package struct RequestedChange: Sendable, Hashable {
    /// How long it is kept, in milliseconds.
    package static let lifetime: Int64 = 86_400_000

    package let principal: Principal
    package let request: IdempotencyKey
    package let position: Int

    package init(_ request: IdempotencyKey, position: Int, by caller: Caller) {
        self.request = request
        self.position = position
        principal = caller.principal
    }

    /// The names of the changes of a call, if it has one.
    package static func names(
        of changes: [Change], _ request: IdempotencyKey?, by caller: Caller
    ) -> [RequestedChange?] {
        changes.indices.map { index in
            request.map { RequestedChange($0, position: index, by: caller) }
        }
    }
}

/// What came of a change that a caller has given a name.
package struct MadeChange: Sendable {
    package let alert: Alert.ID
    /// The ``Receipt/head`` at that time.
    package let head: AuditHead

    package init(alert: Alert.ID, head: AuditHead) {
        self.alert = alert
        self.head = head
    }
}
