import AlertQueue
import FoundationEssentials
import Glibc
import Linux
import TextFormats

/// The alert that `ask` or `notify` describes, as far as the options say.
struct AlertOptions: Sendable {
    @Required var title: String
    /// “-” means the standard input.
    var message: String?
    /// The part that is kept of a message from stdin that is too long.
    @Defaulted var messageFrom = PipedText.End.end
    var buttons: [Alert.Button] = []
    var fields: [Alert.Field] = []
    /// Further fields, in JSON, or “@” and the file that it is in.
    var schema: String?
    var isSheet = false
    @Defaulted var priority = Alert.Priority.normal
    var source: String?
    var key: String?
    /// Whether it takes the place of another question that waits under its key.
    var replaces = false
    var timeout: Alert.Deadline?
    var defaultButton: String?
    var dismissAfter: Duration?
    var validFor: Duration?
    var info: [NamedText] = []
    var presenters: [String] = []

    var waitFor: Alert.Deadline?
    var isPlain = false
    /// Whether stderr gets errors alone.
    var isQuiet = false
    var ifUnattended = Unattended.Word.wait
    var unattendedAfter: Duration?

    var readsMessage: Bool { message == "-" }

    /// What becomes of the alert when nobody is there to see it.
    var unattended: Unattended { Unattended(ifUnattended, after: unattendedAfter) }

    /// Without its message, if that comes from stdin.
    var alert: Alert {
        Alert(
            title, message: readsMessage ? nil : message, style: isSheet ? .actionSheet : .alert,
            buttons: buttons, fields: fields, priority: priority, deadline: timeout,
            defaultButton: defaultButton, dismissAfter: dismissAfter, validFor: validFor,
            source: source, key: key,
            presenters: presenters.isEmpty ? nil : presenters,
            userInfo: Dictionary(info.map { ($0.name, $0.value) }) { _, last in last })
    }

    /// Checks the rules among options that were given together.
    func validate() throws(UsageError) {
        guard timeout != nil || defaultButton == nil else {
            throw UsageError("--default needs --timeout, the time after which it is applied")
        }
        guard key != nil || !replaces else {
            throw UsageError("--replace needs --key, under which the other question was asked")
        }
        guard unattendedAfter == nil || ifUnattended == .applyDefault else {
            throw UsageError("--unattended-after needs --if-unattended default")
        }
        guard defaultButton != nil || ifUnattended != .applyDefault else {
            throw UsageError(
                "--if-unattended default needs --default, the button that is applied")
        }
        guard readsMessage || !$messageFrom.isGiven else {
            throw UsageError("--message-from needs --message -, a message from stdin")
        }
        if let name = presenters.firstRepeated {
            throw UsageError("--on \(name) is given twice")
        }
        if let name = info.map(\.name).firstRepeated {
            throw UsageError("--info: “\(name)” is given twice")
        }
    }

    /// The whole alert: with the message from stdin, and the source from the environment.
    func complete(in context: Context) throws -> Alert {
        var alert = alert
        alert.source = try context.source(source)
        if let schema { alert.fields += try FieldJSON.fields(typed: schema) }
        // Whatever can be refused already is refused before anything is read.
        try alert.validate()
        if readsMessage {
            alert.message = try Self.text(from: STDIN_FILENO, keeping: messageFrom)
        }
        return alert
    }

    /// The given options that have no effect on an alert that was asked before.
    func ignored(by record: AlertRecord) -> [String] {
        var ignored: [String] = []
        if let timeout, !Self.expires(record, timeout) {
            let end = record.expiresAt.map {
                "it expires at " + LocalTime.text($0, .brief(now: Date()))
            }
            ignored.append("--timeout is ignored, because " + (end ?? "it does not expire"))
        }
        if !presenters.isEmpty, presenters != record.alert.presenters {
            let screens = record.alert.presenters?.joined(separator: ", ") ?? "any screen"
            ignored.append("--on is ignored, because it is for \(screens)")
        }
        if $priority.isGiven, priority != record.alert.priority {
            ignored.append("--priority is ignored, because it is \(record.alert.priority.word)")
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
    /// was not tried.
    func whyDefaultIsRefused(
        by record: AlertRecord, _ part: String, path: String
    ) -> String? {
        guard let button = defaultButton, record.alert.defaultButton == nil,
            record.response == nil, part == "default button"
        else { return nil }
        return "alert \(record.id) waits under this key without a default, and --default \(button) "
            + "can't be added to it: people may have seen it without one; to join it, leave "
            + "--default out; to ask with a default, use another key, after "
            + ShellText.withdrawal(of: record.id, path: path)
    }

    /// Reads a message to its end.
    static func text(from descriptor: Int32, keeping end: PipedText.End = .end) throws -> String {
        var text = PipedText(keeping: end, limit: Alert.Limit.message)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            do throws(LinuxError) {
                let count = try SharedDescriptor.read(descriptor, into: &buffer)
                if count == 0 { return text.text }
                text.append(buffer[..<count])
            } catch {
                throw CommandError(
                    .inputOutput, "can't read the message from stdin: \(error.reason)")
            }
        }
    }
}
