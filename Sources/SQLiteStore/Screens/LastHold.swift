import AlertCore
import Synchronization

/// The slot that a store has taken last, for as long as somebody holds it.
final class LastHold: Sendable {
    private struct Reference {
        weak var hold: SlotHold?
    }

    private let reference = Mutex(Reference())

    func set(_ hold: SlotHold) { reference.withLock { $0.hold = hold } }

    /// Writes that this process is there, if it holds the slot.
    func giveSign() { reference.withLock { $0.hold }?.giveSign() }
}
