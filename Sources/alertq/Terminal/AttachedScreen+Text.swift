import AlertQueue
import Linux

extension AttachedScreen {
    /// The user and the place, such as `ana on /dev/pts/3`, and presenters other than the terminal.
    var identity: String {
        let name = principal.label
        let others = presenters.filter { $0 != "terminal" }.joined(separator: ", ")
        let through = others.isEmpty ? "" : " (\(others))"
        if let tty { return "\(name) on \(tty)\(through)" }
        return "\(name), process \(process.pid) on \(process.host)\(through)"
    }

    /// On whose screen alerts are stuck; it follows the word “alerts”.
    fileprivate func stuck(for silence: Duration) -> String {
        let state =
            "process \(process.pid)" + (process.local?.isStopped == true ? " is stopped" : "")
        return "are on the screen of \(identity), which has not responded for "
            + "\(silence.components.seconds) s (\(state))"
    }

    /// How to let others show alerts, if this process does not respond.
    fileprivate var advice: String? {
        guard !isThere, let local = process.local else { return nil }
        let waking = local.isStopped ? "resume it: kill -CONT \(local.pid); or " : ""
        return waking + "end it, so that others can show alerts: kill -KILL \(local.pid)"
    }
}

extension ScreenRoster {
    /// The users who show alerts, or the screen on which alerts are stuck; it follows the word
    /// “alerts”. `nil` if no screen is attached.
    var showing: String? {
        if let identities { return "are shown by \(identities)" }
        return all.first.flatMap { first in first.silence.map(first.stuck) }
    }

    /// The screens that can show any alert, in words; `nil` if there are none.
    var identities: String? {
        forAll.isEmpty ? nil : Self.list(forAll)
    }

    /// Where an alert is, as a sentence; `nil` if no screen is attached.
    func whereabouts(of id: Alert.ID) -> String? {
        let its = all.filter { $0.isThere && $0.alert == id }
        guard its.isEmpty else { return "alert \(id) is shown by \(Self.list(its))" }
        if let identities {
            return "alert \(id) waits for its turn; alerts are shown by \(identities)"
        }
        return showing.map { "alert \(id) waits; alerts \($0)" }
    }

    /// How to let others show alerts, where no attached process responds.
    var advice: String? {
        identities == nil ? all.first?.advice : nil
    }

    private static func list(_ screens: [AttachedScreen]) -> String {
        var names: [String] = []
        for name in screens.map(\.identity) where !names.contains(name) { names.append(name) }
        guard names.count > 1 else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " and " + names.suffix(1).joined()
    }
}

extension Alert {
    /// Whether a presenter of this name may show it.
    func isFor(_ presenter: String) -> Bool { presenters?.contains(presenter) ?? true }
}
