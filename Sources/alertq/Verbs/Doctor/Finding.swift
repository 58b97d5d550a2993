import AlertQueue
import TextFormats

extension Finding {
    /// The exit code that it leads to; ``ExitCode/done`` if all is well.
    var code: ExitCode {
        switch kind {
        case .well, .note: .done
        case .failure(let error): ExitCode(error)
        case .problem(.unanswered): .unanswered
        case .problem(.badData): .badData
        case .problem(.notFound): .notFound
        case .problem(.inputOutput): .inputOutput
        case .problem(.busy): .busy
        case .problem(.notPermitted): .notPermitted
        }
    }

    /// With what can be done about its error, for the queue at a path.
    func advised(for path: String) -> Finding {
        guard case .failure(let error) = kind, advice == nil else { return self }
        return Finding(check: check, failure: error, advice: Self.advice(for: error, path))
    }

    private static func advice(for error: any Error, _ path: String) -> String {
        let location = QueueLocation(path)
        if location.isOnServer { return adviceOnServer(for: error) }
        if location.isService { return adviceOfService(for: error) }
        switch error {
        case AlertError.incompatible:
            return
                "name a queue with --database; if this one belongs to a newer alertq, install that"
        case AlertError.backup:
            return "name the queue with --database; to make a queue of this backup: alertq restore "
                + ShellText.quoted(QueueChoice.absolute(path))
        case AlertError.inconsistent:
            return "find out who may write the file; to go back to a backup: alertq restore BACKUP"
        case AlertError.notPermitted(let file, _):
            return AccessAdvice(to: file, of: path).text
        default: break
        }
        switch ExitCode(error) {
        case .busy: return "try again; if that doesn't help, end the process that is named here"
        case .notPermitted: return AccessAdvice(to: path, of: path).text
        default:
            return "look for errors of the disk: journalctl -k; to go back to a backup: "
                + "alertq restore BACKUP"
        }
    }

    /// What can be done about an error of a service.
    private static func adviceOfService(for error: any Error) -> String {
        switch error {
        case AlertError.incompatible: "restart the service, so that it is this version of alertq"
        case AlertError.notPermitted: "ask whoever runs the service, or name another queue"
        case AlertError.unreachable: "see whether it runs: alertq serve, as its user"
        default: "run alertq doctor on the service's machine, with the path of its queue"
        }
    }

    /// What can be done about an error of a queue on a server, which is nobody's file here.
    private static func adviceOnServer(for error: any Error) -> String {
        switch error {
        case AlertError.incompatible:
            "name a queue with --database; if this one belongs to a newer alertq, install that"
        case AlertError.missing: "make it, or name another one with --database"
        case AlertError.inconsistent:
            "find out who may write to its tables; to go back to a backup, use the server's tools"
        case AlertError.notPermitted:
            "ask the owner of the database, or name another role: --database postgresql://ROLE@…"
        case AlertError.missingLibrary:
            "the queue may well be sound: only this program can't look at it"
        case AlertError.unreachable:
            "see whether the server runs, and can be reached from here: pg_isready, and its log"
        case AlertError.busy: "try again; if that doesn't help, see the server's log"
        default: "see the server's log; to go back to a backup, use the server's tools"
        }
    }
}
