/// What the parts of one manager share: its store, its clock, the Dispatch queue that they run on,
/// and those who hear of what happens.
struct QueueContext: Sendable {
    let store: any AlertStore
    let clock: any AlertClock
    /// On whose behalf the manager acts; what a presenter does is done through that.
    let caller: Caller
    /// Where the manager and all its parts run.
    let executor = QueueExecutor(label: "alertq.manager")
    let delegates: Delegates
    let errors: BackgroundErrors
}
