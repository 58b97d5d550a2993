/// What a manager works with: its store, its clock, the Dispatch queue that it runs on, and the
/// recipients of its events.
struct QueueContext: Sendable {
    let store: any AlertStore
    let clock: any AlertClock
    /// On whose behalf the manager acts; a presenter's actions are recorded as through that
    /// presenter.
    let caller: Caller
    /// What screens call the queue, where they show several; `nil` where they show only this one.
    var queueName: String?
    let executor = QueueExecutor(label: "alertq.manager")
    let delegates: Delegates
    let errors: BackgroundErrors

    /// Whether this process may collect the response to an alert; others' are left to them.
    func mayCollect(_ record: AlertRecord) -> Bool {
        caller.mayCollect(from: record.source.principal)
    }

    /// Notes for the log that an alert is on a screen, through presenters of these names.
    func noteAppearance(of record: AlertRecord, on presenters: [String]) {
        let presenting = caller.through(presenters.joined(separator: " "))
        store.post(.presented(record.onScreen), by: presenting)
    }
}
