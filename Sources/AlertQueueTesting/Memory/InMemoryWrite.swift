import AlertCore

/// One write to a queue in memory: when, on whose behalf, and by which process.
struct InMemoryWrite {
    let now: ClockReading
    let caller: Caller
    /// On whose behalf the process applies deadlines.
    let keeper: Caller
    /// The number of the store that stands for a process.
    let process: Int
}
