/// An alert that has been asked, and whose response may already be there.
struct Asking: Sendable {
    let receipt: Receipt
    /// The value of ``WaitingAskers/resolutionsSeen`` before it was asked.
    let resolutionsBefore: UInt64
}
