import Synchronization

/// The entries of a store's screens in the slot file, for as long as they are attached.
final class AttachedEntries: Sendable {
    private struct Reference {
        weak var entry: SlotEntry?
    }

    private let references = Mutex<[Reference]>([])

    func add(_ entry: SlotEntry) {
        references.withLock { references in
            references.removeAll { $0.entry == nil }
            references.append(Reference(entry: entry))
        }
    }

    /// Writes that this process is there.
    func giveSigns() {
        for entry in references.withLock({ $0.compactMap(\.entry) }) { entry.giveSign() }
    }
}
