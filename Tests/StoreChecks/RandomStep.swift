import AlertCore

/// One change or query of a queue in a random run.
///
/// It refers to alerts only by their ids, so that it means the same in every store.
package enum RandomStep: Sendable {
    /// What an answer says that it has seen.
    package enum Seen: CaseIterable, Sendable { case nothing, whatWasAsked, somethingElse }

    case ask(Question)
    case resolve(Alert.ID, Resolution, Seen)
    case snooze(Alert.ID, until: Alert.Deadline?)
    case claim(Alert.ID, until: Alert.Deadline?, isForced: Bool)
    case release(Alert.ID, isForced: Bool)
    case collect(Alert.ID, because: EntryReason? = nil)
    case run(Alert.ID, RunStep)
    case requestCancel(Alert.ID, Resolution.Authority)
    case notePresented(Alert.ID)
    case noteReturned(Alert.ID)
    case noteCollected(Alert.ID)
    case find(AlertReference)
    case next(ScreenQuery)
    case page(RecordQuery)
    case entries(LogQuery)
    case statistics(StatisticsQuery)
    case count
    case verify
    /// All clocks move forward.
    case advance(Duration)
    /// The wall clock is set forward or back, by a number of milliseconds.
    case setWall(by: Int64)
}
