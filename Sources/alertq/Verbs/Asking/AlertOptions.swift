import AlertQueue
import FoundationEssentials
import Glibc

/// The options that `ask` and `notify` share, and the alert that they describe.
package struct AlertOptions: Sendable {
    package static let message = Option(
        "message", short: "m", "TEXT", help: "More about it; “-” reads it from stdin")
    package static let priority = Option(
        "priority", "WORD", .words(Alert.Priority.allCases.map(\.word)),
        help: "low, normal, high or critical; normal unless given")
    package static let source = Option(
        "source", "NAME", help: "Who asks; else $ALERTQ_SOURCE, else “alertq”")
    package static let key = Option(
        "key", "KEY",
        help:
            "Asking again with it finds the same alert, and its response once there is one"
    )
    package static let timeout = Option(
        "timeout", "TIME", help: "Let it expire after a time, such as 10m, or at a moment")
    package static let info = Option(
        "info", "K=V", isRepeatable: true, help: "A string that comes back with the response")
    package static let waitFor = Option(
        "wait-for", "TIME",
        help: "Stop waiting after a time or at a moment, and leave the alert in the queue")

    package static let on = Option(
        "on", "PRESENTER", .words(PresenterKind.words), isRepeatable: true,
        help: "Show it only there: terminal, desktop, dialog, or a presenter of your own")
    package static let plain = Option(
        "plain",
        help: "On the terminal, write alerts as numbered lines that are never drawn again")

    /// Without its message, if that comes from stdin.
    package let alert: Alert
    package let readsMessage: Bool
    package let waitFor: Alert.Deadline?
    package let isPlain: Bool
    package let ifUnattended: Unattended
    /// What was given, rather than taken for granted.
    private let timeout: Alert.Deadline?
    private let priority: Alert.Priority?

    package init(
        _ arguments: Arguments, buttons: [Alert.Button] = [], style: Alert.Style = .alert,
        defaultButton: String? = nil, dismissAfter: Duration? = nil
    ) throws {
        let deadline = { (text: String) throws(UsageError) in
            try DateText.deadline(text, now: Date())
        }
        timeout = try arguments.value(Self.timeout, deadline)
        guard timeout != nil || defaultButton == nil else {
            throw UsageError("--default needs --timeout, the time after which it is applied")
        }
        let words = Alert.Priority.allCases.map { ($0.word, $0) }
        priority = try arguments.choice(Self.priority, words)
        readsMessage = arguments[Self.message] == "-"
        waitFor = try arguments.value(Self.waitFor, deadline)
        isPlain = arguments.has(Self.plain)
        ifUnattended = try Unattended(
            arguments, hasButtons: !buttons.isEmpty, hasDefault: defaultButton != nil)
        alert = Alert(
            arguments.operands[0], message: readsMessage ? nil : arguments[Self.message],
            style: style, buttons: buttons,
            priority: priority ?? .normal,
            deadline: timeout, defaultButton: defaultButton,
            dismissAfter: dismissAfter, source: arguments[Self.source],
            key: arguments[Self.key], presenters: try Self.presenters(arguments),
            userInfo: try Self.info(arguments.values(Self.info)))
    }

    /// The whole alert: with the message from stdin, and the source from the environment.
    package func complete(in context: Context) throws -> Alert {
        var alert = alert
        alert.source = try alert.source ?? context.variables("ALERTQ_SOURCE") ?? "alertq"
        // What can be refused already is refused before anything is read.
        try alert.validate()
        if readsMessage { alert.message = try Self.text(from: STDIN_FILENO) }
        return alert
    }

    /// The options that were given and are not in force for an alert that was asked before.
    package func ignored(by record: AlertRecord) -> [String] {
        var ignored: [String] = []
        if let timeout, !Self.expires(record, timeout) {
            let end = record.expiresAt.map {
                "it expires at " + LocalTime.text($0, .brief(now: Date()))
            }
            ignored.append("--timeout is not in force, " + (end ?? "it does not expire"))
        }
        if let presenters = alert.presenters, presenters != record.alert.presenters {
            let place = record.alert.presenters?.joined(separator: ", ") ?? "any screen"
            ignored.append("--on is not in force, it is for \(place)")
        }
        if let priority, priority != record.alert.priority {
            ignored.append("--priority is not in force, it is \(record.alert.priority.word)")
        }
        return ignored
    }

    private static func expires(_ record: AlertRecord, _ timeout: Alert.Deadline) -> Bool {
        guard let end = record.expiresAt else { return false }
        // The two times of a record may come from two looks at the clock.
        let distance = Timestamp.milliseconds(end) - Timestamp.milliseconds(record.askedAt)
        return abs(distance - timeout.distance(from: record.askedAt).milliseconds) < 1000
    }

    /// Why a default button can't be added to an alert that waits under the same key; `nil` if that
    /// is not what was tried.
    package func whyDefaultIsRefused(
        by record: AlertRecord, _ part: String, path: String
    ) -> String? {
        guard let button = alert.defaultButton, record.alert.defaultButton == nil,
            record.response == nil, part == "default button"
        else { return nil }
        return "alert \(record.id) waits under this key without a default, and --default \(button) "
            + "can't be added to it: people may have seen it without one; to join it, leave "
            + "--default out; to ask with a default, use another key, after "
            + ShellText.withdrawal(of: record.id, path: path)
    }

    /// The presenters that may show the alert; `nil` for all.
    private static func presenters(_ arguments: Arguments) throws(UsageError) -> [String]? {
        let names = arguments.values(on)
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw UsageError("--on \(name) is given twice")
        }
        return names.isEmpty ? nil : names
    }

    private static func info(_ texts: [String]) throws(UsageError) -> [String: String] {
        var info: [String: String] = [:]
        for text in texts {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                throw UsageError("--info: “\(text)” is not of the form K=V")
            }
            let name = String(text[..<equals])
            let value = String(text[text.index(after: equals)...])
            guard info.updateValue(value, forKey: name) == nil else {
                throw UsageError("--info: “\(name)” is given twice")
            }
        }
        return info
    }

    /// Reads a message to its end, but for the line break that `echo` puts there.
    package static func text(from descriptor: Int32) throws -> String {
        // One byte for that line break, and one to see that there is more.
        let limit = Alert.Limit.message + 2
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < limit {
            let count = read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
            if count == 0 { break }
            if count > 0 {
                bytes += buffer[..<count]
            } else if errno != EINTR {
                let reason = String(cString: strerror(errno))
                throw CommandError(.inputOutput, "can't read the message from stdin: \(reason)")
            }
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard bytes.count <= Alert.Limit.message else {
            throw AlertError.invalid(
                "message", "from stdin is too long; at most \(Alert.Limit.message) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.badData, "the message from stdin is not valid UTF-8")
        }
        return text
    }
}
