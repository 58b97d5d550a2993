/// An alert that has been asked, and whose response may have come already.
struct Asking: Sendable {
    let receipt: Receipt
    /// What ``WaitingAskers/resolutionsSeen`` was before.
    let resolutionsBefore: UInt64
}
