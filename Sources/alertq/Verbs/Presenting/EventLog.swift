import AlertPresenters
import AlertQueue
import Synchronization
import TextFormats

/// Writes the events of a queue to the machine's log, while this process is the one that writes for
/// all screens: the first of those that can.
///
/// It also writes the audit log's head there: an anchor outside the database, which shows that
/// the log has not been rewritten since. Titles and messages stay in the database, where they can
/// be erased.
final class EventLog: Sendable {
    /// A line, and its values by name.
    typealias Sink =
        @Sendable (_ message: String, _ fields: [(name: String, value: String)]) -> Void

    private struct State {
        /// The last entry that was looked at.
        var cursor: AuditHead
        /// Whether this process was the one that writes when it last looked.
        var isMine = false
        /// Whether it was when its screen was about to be detached, which counts from then on.
        var wasMine: Bool?
        /// When a head was written, and up to which entry.
        var anchor: (sequence: Int64, at: ContinuousClock.Instant)?
    }

    private let manager: AlertManager
    private let sink: Sink
    private let entriesPerHead: Int64
    private let headInterval: Duration
    private let state: Mutex<State>

    init(
        _ manager: AlertManager, entriesPerHead: Int64 = 1000,
        headInterval: Duration = .seconds(86_400), sink: @escaping Sink
    ) {
        self.manager = manager
        self.sink = sink
        self.entriesPerHead = entriesPerHead
        self.headInterval = headInterval
        state = Mutex(State(cursor: manager.position.head))
    }

    /// Where lines go: the journal if this machine has one, else the standard
    /// error; `nil` where that is a terminal with alerts on it.
    static func sink(besideAlerts: Bool, in context: Context) -> Sink? {
        if Journal.isThere {
            return { message, fields in
                let own = [
                    (name: "MESSAGE", value: message),
                    (name: "SYSLOG_IDENTIFIER", value: "alertq"),
                    // Of normal interest; see syslog(3).
                    (name: "PRIORITY", value: "5"),
                ]
                if !Journal.send(own + fields) { context.note(message) }
            }
        }
        guard !besideAlerts || !context.errors.isTerminal else { return nil }
        return { message, _ in context.note(message) }
    }

    /// Writes what happens from now on, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let cursor = state.withLock { $0.cursor }
            do throws(AlertError) {
                await write(try await manager.nextAudit(after: cursor, of: nil, limit: 100))
                if state.withLock({ isHeadDue($0) }), let head = try await manager.auditHead() {
                    write(head)
                }
            } catch {
                // The disk fails or is locked: read again a second later.
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Logs errors that no caller waits for, such as those of a presenter that failed.
    func hearErrors() {
        manager.onError { [sink, path = manager.place] error in
            sink(error.description, [("ALERTQ_DATABASE", path)])
        }
    }

    /// Settles whether this process writes what is still to come, before its screen is detached.
    func prepareToEnd() async {
        let isMine = await writesForAll
        state.withLock { $0.wasMine = isMine || $0.isMine }
    }

    /// Writes the events that were not written yet; to be called before the queue is closed.
    func finish() async {
        let cursor = state.withLock { $0.cursor }
        // What can't be read now can't be written either.
        guard let page = try? await manager.audit(after: cursor, of: nil, limit: 100) else {
            return
        }
        await write(page)
        // A process that ends at once says where the log ends, too.
        guard state.withLock({ $0.wasMine == true && $0.anchor == nil }),
            let head = try? await manager.auditHead()
        else { return }
        write(head)
    }

    private func isHeadDue(_ state: State) -> Bool {
        guard state.isMine else { return false }
        guard let anchor = state.anchor else { return true }
        return state.cursor.sequence / entriesPerHead > anchor.sequence / entriesPerHead
            || (anchor.at.duration(to: .now) >= headInterval
                && state.cursor.sequence > anchor.sequence)
    }

    /// Whether this process's screen is the one that writes for all: the first of those that can.
    private var writesForAll: Bool {
        get async {
            let writer = await manager.screens().all.first { $0.isThere && $0.keepsLog }
            return writer?.process.isCurrent ?? false
        }
    }

    private func write(_ page: [AuditEntry]) async {
        let writesForAll = await writesForAll
        let new = state.withLock { state in
            let new = page.filter { $0.event.sequence > state.cursor.sequence }
            state.cursor = new.last?.event.cursor ?? state.cursor
            let isMine = state.wasMine ?? (writesForAll || state.isMine)
            state.isMine = writesForAll
            return isMine ? new : []
        }
        for entry in new { write(entry) }
    }

    private func write(_ entry: AuditEntry) {
        let event = entry.event
        let responder = event.responder
        let fields: [(String, String?)] = [
            ("ALERTQ_ID", event.alertID.map(String.init)),
            ("ALERTQ_EVENT", event.kind.rawValue),
            ("ALERTQ_SOURCE", event.source),
            ("ALERTQ_OUTCOME", event.outcome?.rawValue),
            ("ALERTQ_BUTTON", entry.button),
            ("ALERTQ_BUTTON_INDEX", event.buttonIndex.map(String.init)),
            ("ALERTQ_BY", event.by?.rawValue),
            ("ALERTQ_USER", responder.principal.word),
            ("ALERTQ_VIA", responder.via),
            ("ALERTQ_SEQUENCE", "\(event.sequence)"),
            ("ALERTQ_DATABASE", manager.place),
        ]
        sink(Self.sentence(entry), fields.compactMap { name, value in value.map { (name, $0) } })
    }

    private func write(_ head: AuditHead) {
        state.withLock { $0.anchor = (head.sequence, .now) }
        let option =
            QueueChoice.option(forPath: manager.path, isForOthers: true).map { " " + $0 } ?? ""
        sink(
            "the audit log of \(SafeText.line(manager.place)) ends with \(head.text); to compare: "
                + "alertq audit verify --head \(head.text)\(option)",
            [("ALERTQ_AUDIT_HEAD", head.text), ("ALERTQ_DATABASE", manager.place)])
    }

    /// What happened, without the words of the question.
    private static func sentence(_ entry: AuditEntry) -> String {
        let event = entry.event
        let alert = "alert \(event.alertID.map(String.init) ?? "-")"
        if let ending = Ending(entry) { return "\(alert): \(ending.text(nil))" }
        let words = "\(alert) \(SafeText.line(event.kind.rawValue))"
        if event.kind == .asked, let source = event.source {
            return words + " by \(SafeText.line(source))"
        }
        let by = event.responder
        return words + " by \(SafeText.line(by.principal.label)) via \(SafeText.line(by.via))"
    }
}
