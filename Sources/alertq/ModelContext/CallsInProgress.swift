import Synchronization

/// The calls that have no reply yet, by their ids.
final class CallsInProgress: Sendable {
    /// How many there may be at once.
    static let limit = 256

    private let calls = Mutex<[RequestID: ToolCall]>([:])

    var all: [ToolCall] { calls.withLock { Array($0.values) } }

    subscript(id: RequestID) -> ToolCall? { calls.withLock { $0[id] } }

    func add(_ call: ToolCall) throws(ProtocolError) {
        let refusal = calls.withLock { calls in
            let refusal = Self.whyRefused(call.id, calls)
            if refusal == nil { calls[call.id] = call }
            return refusal
        }
        if let refusal { throw refusal }
    }

    func remove(_ call: ToolCall) {
        calls.withLock { calls in
            if calls[call.id] === call { calls[call.id] = nil }
        }
    }

    private static func whyRefused(
        _ id: RequestID, _ calls: [RequestID: ToolCall]
    ) -> ProtocolError? {
        if calls[id] != nil {
            return ProtocolError(
                .invalidRequest,
                "request \(id) is still in progress, so this one with the same id was not carried "
                    + "out; give each request its own id")
        }
        guard calls.count >= limit else { return nil }
        return ProtocolError(
            .internalError, "\(limit) calls are in progress; try again when some have ended")
    }
}
