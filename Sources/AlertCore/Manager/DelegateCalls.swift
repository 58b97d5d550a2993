/// A call of a delegate.
struct Callback {
    /// The delegate's method.
    enum Kind: String {
        case willPresent, didPresent, clicked, cancel, willDismiss, didDismiss
        /// None: only what comes after the earlier calls.
        case nothing
    }

    let kind: Kind
    /// The alert; `nil` if it is to be read when its turn comes.
    let record: AlertRecord?
    /// Whether it is for the asker's delegate alone.
    let isForOwn: Bool

    init(_ kind: Kind, _ record: AlertRecord?, isForOwn: Bool = false) {
        self.kind = kind
        self.record = record
        self.isForOwn = isForOwn
    }

    /// Calls the method; returns whether it has handled a cancel.
    nonisolated(nonsending) func call(
        _ delegate: any AlertManagerDelegate, _ record: AlertRecord
    ) async -> Bool {
        let index = record.response?.buttonIndex ?? -1
        switch kind {
        case .willPresent: await delegate.willPresent(record)
        case .didPresent: await delegate.didPresent(record)
        case .clicked: await delegate.clicked(record, buttonAt: index)
        case .cancel: return await delegate.cancel(record) == .handled
        case .willDismiss: await delegate.willDismiss(record, withButtonAt: index)
        case .didDismiss: await delegate.didDismiss(record, withButtonAt: index)
        case .nothing: break
        }
        return false
    }
}

/// The order of the calls of a manager's delegates: one line for each delegate, in which a call
/// begins when the one before it has *passed*.
///
/// A call passes when it returns; when it calls a method of the manager that would wait for it, so
/// that the next one begins while it is suspended, as in UIKit; and when it has been silent for
/// five seconds. After that, the next ones begin only when it returns, but nothing waits for them.
struct DelegateCalls {
    /// How long a call may take before nothing waits for it any longer.
    static let patience = Duration.seconds(5)
    /// How many calls may wait for a delegate that does not return; more are not made.
    private static let limit = 1000

    enum Event {
        case add(Int, to: ObjectIdentifier)
        case returned(Int, isHandled: Bool)
        /// The call waits for something that waits for the call.
        case reentered(Int)
        case time
    }

    enum Effect: Equatable {
        case begin(Int)
        case passed(Int, isHandled: Bool)
        /// The call has not returned in time.
        case reportSilence(Int)
        /// The call is over, or is not made.
        case forget(Int)
    }

    private struct Line {
        /// The call that the next ones wait for.
        var current: (number: Int, end: ClockReading)
        /// Whether it has been silent for too long.
        var isSilent = false
        var waiting: [Int] = []
    }

    private var lines: [ObjectIdentifier: Line] = [:]
    /// The lines of the calls that have not returned.
    private var lineOfCall: [Int: ObjectIdentifier] = [:]

    /// When calls will have been silent for too long.
    var moments: [ClockReading] { lines.values.filter { !$0.isSilent }.map(\.current.end) }

    mutating func handle(_ event: Event, at now: ClockReading) -> [Effect] {
        switch event {
        case .add(let number, let line): add(number, to: line, at: now)
        case .returned(let number, let isHandled):
            returned(number, isHandled: isHandled, at: now) + [.forget(number)]
        case .reentered(let number): returned(number, isHandled: false, at: now, isOver: false)
        case .time: silence(at: now)
        }
    }

    private mutating func add(
        _ number: Int, to id: ObjectIdentifier, at now: ClockReading
    ) -> [Effect] {
        guard var line = lines[id] else {
            lineOfCall[number] = id
            lines[id] = Line(current: (number, now.advanced(by: Self.patience)))
            return [.begin(number)]
        }
        let passed: [Effect] = line.isSilent ? [.passed(number, isHandled: false)] : []
        guard line.waiting.count < Self.limit else {
            return [.passed(number, isHandled: false), .forget(number)]
        }
        lineOfCall[number] = id
        line.waiting.append(number)
        lines[id] = line
        return passed
    }

    private mutating func returned(
        _ number: Int, isHandled: Bool, at now: ClockReading, isOver: Bool = true
    ) -> [Effect] {
        guard let id = lineOfCall[number] else { return [] }
        if isOver { lineOfCall[number] = nil }
        guard var line = lines[id], line.current.number == number else { return [] }
        // What was silent has passed already, as have those that waited by then.
        let passed: [Effect] = line.isSilent ? [] : [.passed(number, isHandled: isHandled)]
        guard !line.waiting.isEmpty else {
            lines[id] = nil
            return passed
        }
        let next = line.waiting.removeFirst()
        line.current = (next, now.advanced(by: Self.patience))
        // Those after it may have passed, too; passing twice has no effect.
        line.isSilent = false
        lines[id] = line
        return passed + [.begin(next)]
    }

    private mutating func silence(at now: ClockReading) -> [Effect] {
        var effects: [Effect] = []
        for (id, line) in lines where !line.isSilent && now.isAtOrAfter(line.current.end) {
            lines[id]?.isSilent = true
            effects.append(.reportSilence(line.current.number))
            effects += ([line.current.number] + line.waiting).map { .passed($0, isHandled: false) }
        }
        return effects
    }
}
