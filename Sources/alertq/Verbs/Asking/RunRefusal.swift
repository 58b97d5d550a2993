import AlertQueue
import TextFormats

/// Why `run` did not run its command.
struct RunRefusal: Error {
    /// The word that programs read, in what `--json` prints.
    enum Reason: String, CaseIterable {
        /// Somebody chose the button that means no.
        case denied
        case dismissed, expired, withdrawn, cancelled
        /// A program chose a button that means yes, and only a person may.
        case byProgram = "program"
        /// There is nobody to ask.
        case unattended
        /// There is no answer yet.
        case waiting
        /// The answer of the given key has been used before.
        case used
        /// The answer of the given key was given too long ago.
        case stale
        case error
    }

    let reason: Reason
    let message: String
    let record: AlertRecord?

    init(_ reason: Reason, _ message: String, _ record: AlertRecord? = nil) {
        (self.reason, self.message, self.record) = (reason, message, record)
    }

    /// The refusal that an end without a yes amounts to.
    init(_ record: AlertRecord, _ ending: String, needsPerson: Bool) {
        guard let response = record.response, !record.isErased else {
            self.init(.error, "\(ending); what was asked has been erased", record)
            return
        }
        let reason: Reason =
            switch response.outcome {
            case .answered:
                needsPerson && response.allowsRun(byDefault: false) ? .byProgram : .denied
            case .dismissed: .dismissed
            case .expired: .expired
            case .withdrawn: .withdrawn
            case .cancelled: .cancelled
            }
        let isProgram = reason == .byProgram
        self.init(
            reason,
            ending + (isProgram ? "; a program is not enough, because of --only-person" : ""),
            record)
    }

    /// What `--json` prints.
    var json: JSONValue {
        .object([
            ("ran", .bool(false)), ("reason", .string(reason.rawValue)),
            ("message", .string(message)),
            ("alert", record.map(AlertJSON.value) ?? .null),
        ])
    }
}
