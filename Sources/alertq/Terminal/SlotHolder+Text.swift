import AlertQueue
import Linux

extension SlotHolder {
    /// Whether an alert can be seen there.
    func isThere(for alert: Alert) -> Bool { isThere && mayShow(on: alert.presenters) }

    /// Who it is and where: `ana on /dev/pts/3`, and through what unless that is the terminal.
    var identity: String {
        let name = user ?? "uid \(uid)"
        let others = presenters.filter { $0 != "terminal" }.joined(separator: ", ")
        let through = others.isEmpty ? "" : " (\(others))"
        if let tty { return "\(name) on \(tty)\(through)" }
        return "\(name), process \(pid) on \(host)\(through)"
    }

    /// Who shows alerts, or on whose screen they are stuck; it follows the word “alerts”.
    var showing: String {
        guard let silence else { return "are shown by \(identity)" }
        let state =
            LinuxProcess(pid: pid).isStopped ? "process \(pid) is stopped" : "process \(pid)"
        return "are on the screen of \(identity), which has not moved for "
            + "\(silence.components.seconds) s (\(state))"
    }

    /// Where an alert is, as a sentence.
    func whereabouts(of id: Alert.ID) -> String {
        let others = "alerts " + showing
        guard alert == id else { return "alert \(id) waits for its turn; \(others)" }
        return isThere ? "alert \(id) is shown by \(identity)" : "alert \(id) waits; \(others)"
    }

    /// How to let others show alerts, if this process does not move.
    var advice: String? {
        guard !isThere, pid > 0 else { return nil }
        let waking = LinuxProcess(pid: pid).isStopped ? "let it go on: kill -CONT \(pid); or " : ""
        return waking + "end it, so that others can show alerts: kill -KILL \(pid)"
    }
}

extension Alert {
    /// Whether a presenter of this name may show it.
    func isFor(_ presenter: String) -> Bool { presenters?.contains(presenter) ?? true }
}
