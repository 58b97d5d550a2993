import Glibc
import Linux
import Synchronization
import TextFormats

/// An error in something that a manager does by itself, for which no caller waits.
///
/// It is reported to ``AlertManager/onError(_:)``.
public enum BackgroundError: Error, Sendable {
    /// A button's action or an alert's closure threw. The response stays uncollected and can be
    /// taken by key or id, unless the alert names a handler, which still runs and collects it.
    case closure(Alert.ID, any Error)
    /// A named handler threw, or its completion could not be stored. It is tried again after the
    /// pause.
    case handler(name: String, Alert.ID, any Error, retryAfter: Duration)
    /// The code for a response has returned, but that can't be stored for now. It is tried again until
    /// it succeeds, and the code does not run again meanwhile; this is reported once for a response.
    case uncollected(Alert.ID, AlertError)
    /// An alert's closures or its named handler were not run, because the answer is stale; it is
    /// collected.
    case stale(Alert.ID, AlertError)
    /// A presenter can't show an alert, or made a choice that the alert does not offer. The alert
    /// still waits.
    case presenter(name: String, Alert.ID, any Error)
    /// A delegate's method, such as `StatusLine.willPresent`, has not returned for five seconds. The
    /// queue goes on without it; its other methods are called once it returns.
    case delegate(Alert.ID, _ method: String, silentFor: Duration)
    /// Due changes can't be stored: deadlines are not applied, and snoozed alerts don't return.
    /// They are tried again each second; the error is reported once until that succeeds. If it is
    /// ``AlertError/unreachable(_:)``, calls that wait for a response wait for the server, too.
    case deadlines(AlertError)
    /// Entries of the log for which nobody waits, of what was on a screen, could not be stored and
    /// were dropped. That is reported once until one is stored again.
    case entriesLost(AlertError)
    /// An alert differs from the audit log, so it is not shown, or its response is not returned. A
    /// presenter tries it again after growing pauses; a waiting ``AlertManager/ask(_:replacing:delegate:)``
    /// throws.
    case inconsistent(Alert.ID, AlertError)
    /// An alert waits for a screen, and no process presents alerts on one that may show it. Until
    /// one does, the alert can only be answered by its id, or not at all if it has no buttons.
    case unattended(Alert.ID, presenters: [String]?)
}

extension BackgroundError: CustomStringConvertible {
    /// A sentence for a person, without a capital letter and a full stop.
    public var description: String {
        switch self {
        case .closure(let id, let error):
            "the closure of alert \(id) failed: \(error)"
        case .handler(let name, let id, let error, let pause):
            "the handler “\(name)” failed for alert \(id): \(error); "
                + "trying again in \(pause.components.seconds) s"
        case .uncollected(let id, let error):
            "the response to alert \(id) was handled, but can't be marked as collected: \(error); "
                + "trying again"
        case .presenter(let name, let id, let error):
            "the presenter “\(name)” failed with alert \(id): \(error)"
        case .delegate(let id, let method, let time):
            "the delegate's \(method) has not returned for \(time.components.seconds) s, for "
                + "alert \(id); the queue goes on without it"
        case .deadlines(.unreachable(let reason)):
            "\(AlertError.unreachable(reason)); waiting until it is back"
        case .deadlines(let error):
            "deadlines can't be applied for now: \(error)"
        case .entriesLost(let error), .inconsistent(_, let error), .stale(_, let error):
            "\(error)"
        case .unattended(let id, nil):
            "alert \(id) has no buttons and waits for a screen, but no process shows alerts; to "
                + "show it: alertq present"
        case .unattended(let id, let presenters?):
            "alert \(id) waits for a screen with "
                + presenters.map { "“\($0)”" }.joined(separator: " or ")
                + ", but no process shows alerts there"
        }
    }

    /// The default action: prints one line on the standard error.
    static func log(_ error: BackgroundError) {
        let line = Array(
            TerminalCharacters().ours("alertq: \(SafeText.line(error.description))\n").utf8)
        var room = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        // If nobody reads the standard error, the line is lost, but not the process; nor does the
        // process wait for a reader that has stopped.
        guard poll(&room, 1, 0) == 1 else { return }
        SignalBlock.run([SIGPIPE]) {
            _ = write(STDERR_FILENO, line, line.count)
        }
    }
}

/// Passes on errors for which no caller waits.
package final class BackgroundErrors: Sendable {
    private let handler = Mutex<@Sendable (BackgroundError) -> Void>(BackgroundError.log)

    package init() {}

    /// Sets the closure that receives them.
    func handle(with body: @escaping @Sendable (BackgroundError) -> Void) {
        handler.withLock { $0 = body }
    }

    /// Reports an error for which no caller waits.
    package func report(_ error: BackgroundError) {
        // Called outside of the lock: it may set another closure itself.
        let body = handler.withLock { $0 }
        body(error)
    }
}
