import Synchronization

/// The calls that have no reply yet, by their ids, and those that have one but are not over.
final class CallsInProgress: Sendable {
    /// How many may wait for their replies at once.
    static let limit = 256

    private struct State {
        var open: [RequestID: ToolCall] = [:]
        /// It is too late to cancel these, and their ids may be used again.
        var closing: [ObjectIdentifier: ToolCall] = [:]
    }

    private let state = Mutex(State())

    /// The call with an id, unless its reply is on its way.
    subscript(id: RequestID) -> ToolCall? { state.withLock { $0.open[id] } }

    func add(_ call: ToolCall) throws(ProtocolError) {
        let refusal = state.withLock { state in
            let refusal = Self.whyRefused(call.id, state.open)
            if refusal == nil { state.open[call.id] = call }
            return refusal
        }
        if let refusal { throw refusal }
    }

    /// From here on the call can't be cancelled: its reply is about to be written.
    func close(_ call: ToolCall) {
        state.withLock { state in
            if state.open[call.id] === call { state.open[call.id] = nil }
            state.closing[ObjectIdentifier(call)] = call
        }
    }

    /// The call is over.
    func remove(_ call: ToolCall) {
        state.withLock { state in
            if state.open[call.id] === call { state.open[call.id] = nil }
            state.closing[ObjectIdentifier(call)] = nil
        }
    }

    /// Ends the calls that have no reply yet, and returns once all calls are over.
    func end() async {
        let (open, closing) = state.withLock { (Array($0.open.values), Array($0.closing.values)) }
        for call in open { call.end(.serverEnds) }
        for call in open + closing { await call.wait() }
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
