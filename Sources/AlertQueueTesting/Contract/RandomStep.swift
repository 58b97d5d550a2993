import AlertCore

/// One thing that is done to a queue, or looked at, in a random run.
///
/// It names alerts by their ids alone, so that it means the same in every store.
package enum RandomStep: Sendable {
    /// What an answer says that it has seen.
    package enum Seen: CaseIterable, Sendable { case nothing, whatWasAsked, somethingElse }

    case ask(Question)
    case resolve(Alert.ID, Resolution, Seen)
    case expire(Alert.ID)
    case snooze(Alert.ID, until: Alert.Deadline?)
    case collect(Alert.ID)
    case requestCancel(Alert.ID, Resolution.Authority)
    case notePresented(Alert.ID)
    case noteReturned(Alert.ID)
    case noteCollected(Alert.ID)
    case find(Reference)
    case next(ScreenQuery)
    case page(RecordQuery)
    case entries(LogQuery)
    case statistics(StatisticsQuery)
    case count
    case verify
    /// All clocks go forward.
    case advance(Duration)
    /// Somebody sets the wall clock, by so many milliseconds.
    case setWall(by: Int64)
}
