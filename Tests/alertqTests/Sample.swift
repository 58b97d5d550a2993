import AlertQueue
import FoundationEssentials

/// Values that tests share.
enum Sample {
    /// 2026-11-20T10:03:00.000Z
    static let now = Date(timeIntervalSince1970: 1_795_168_980)
    static let asked = Date(timeIntervalSince1970: 1_795_168_800)

    static let responder = Caller(
        Account(uid: 1000, name: "ana"), via: "terminal", tty: "/dev/pts/3",
        process: ProcessIdentity(host: "nas", pid: 4711))

    static let buttons = [Alert.Button("Yes", id: "yes"), .cancel("No", id: "no")]

    static let alert = Alert(
        "Prune old snapshots?", message: "40 GB", buttons: buttons, source: "backup",
        key: "prune-2026-11", userInfo: ["host": "nas", "disk": "a/b"])

    static func response(
        _ outcome: Outcome = .answered, button index: Int = 0, by: ResolvedBy = .person,
        handling: CancelHandling? = nil, input: Alert.Input = Alert.Input()
    ) -> Response {
        Response(
            alertID: 42, outcome: outcome, buttonIndex: index,
            button: buttons.indices.contains(index) ? buttons[index] : nil, by: by,
            responder: by == .policy ? nil : responder, resolvedAt: asked.addingTimeInterval(60),
            collectedAt: nil, userInfo: alert.userInfo, cancelHandling: handling,
            input: input)
    }

    static let claim = AlertClaim(by: responder, until: now.addingTimeInterval(900))

    static func record(_ alert: Alert = alert, _ response: Response? = nil) -> AlertRecord {
        AlertRecord(
            id: 42, alert: alert,
            source: .init(
                name: alert.source ?? "alertq", .account(Account(uid: 0)),
                .process(ProcessIdentity(host: "nas", pid: 99))),
            state: response == nil ? .queued : .resolved, askedAt: asked, presentedAt: nil,
            expiresAt: nil, snoozedUntil: nil, snoozes: 0, response: response)
    }
}
