import AlertCore

/// One write to a queue in memory: its time, its caller and its process.
struct InMemoryWrite {
    let now: ClockReading
    let caller: Caller
    /// The caller on whose behalf the process applies deadlines.
    let keeper: Caller
    /// The number of the store, which represents a process.
    let process: Int
}
