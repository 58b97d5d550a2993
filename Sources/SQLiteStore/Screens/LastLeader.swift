import Synchronization

/// The screen of a store that has led last, for as long as it is attached.
final class LastLeader: Sendable {
    private struct Reference {
        weak var entry: SlotEntry?
    }

    private let reference = Mutex(Reference())

    func set(_ entry: SlotEntry) { reference.withLock { $0.entry = entry } }

    /// Writes that this process is there.
    func giveSign() { reference.withLock { $0.entry }?.giveSign() }
}
