import AlertQueue

extension AlertRecord {
    /// How it ended, without its number; its state while it waits.
    func ending(_ time: LocalTime.Form) -> String {
        Ending(self)?.text(time) ?? state.rawValue
    }

    /// Whether this account asked it.
    var isOwn: Bool { source.uid == Identity.current.uid }

    /// Whether its deadline is before the end of its snooze.
    var expiresBeforeSnoozeEnds: Bool {
        guard let expiresAt, let snoozedUntil else { return false }
        return expiresAt < snoozedUntil
    }
}

extension Responder {
    /// The account that acted.
    var account: String { user ?? "uid \(uid)" }
}
