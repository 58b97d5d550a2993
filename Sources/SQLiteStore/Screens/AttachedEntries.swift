import Synchronization

/// The slot file entries of a store's attached screens.
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

    /// Writes a sign of life of this process.
    func giveSigns() {
        for entry in references.withLock({ $0.compactMap(\.entry) }) { entry.giveSign() }
    }
}
