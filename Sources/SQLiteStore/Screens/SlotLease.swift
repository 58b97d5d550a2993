import AlertCore
import Glibc
import Linux
import Synchronization

/// A screen of this process, attached for as long as it has an entry in the slot file.
final class SlotLease: ScreenLease {
    /// After this time without a sign, a leading screen is overtaken. Checked once a second, that
    /// takes at most five seconds.
    private static let patience = Duration.milliseconds(3500)

    private struct State {
        /// The screen as it was last announced.
        var screen: AttachedScreen
        var wantsLead = false
        /// `nil` while the file can't be used.
        var entry: HeldEntry?
        var epoch = Epoch()
        /// The generation that it has taken; 0 if none.
        var generation: Int64 = 0
        /// The generation of a leader whose text can't be read, and since when.
        var nameless: (generation: Int64, since: ContinuousClock.Instant)?
        /// When a screen without an entry tries to attach again; `nil` once it is released.
        var nextTry: ContinuousClock.Instant? = .now

        /// What the entry says: only the leader determines the current alert.
        var text: SlotEntry {
            var screen = screen
            if generation == 0 { screen.current = nil }
            return SlotEntry(of: screen, leading: generation)
        }
    }

    private let slot: SlotFile
    private let changes: ChangeSignal
    private let state: Mutex<State>

    /// Attaches a screen.
    ///
    /// - Parameter changes: Counts the changes of the slot file.
    /// - Throws: The errors of ``SlotFile/attach(_:)``.
    init(of screen: AttachedScreen, in slot: SlotFile, changes: ChangeSignal) throws(AlertError) {
        state = Mutex(State(screen: screen, entry: try slot.attach(screen)))
        self.slot = slot
        self.changes = changes
    }

    deinit { release() }

    var epoch: Epoch { state.withLock { $0.epoch } }

    /// Whether changes under an epoch are made by this screen.
    func holds(_ epoch: Epoch) -> Bool { state.withLock { $0.entry != nil && $0.epoch == epoch } }

    func release() {
        state.withLock { state in
            state.nextTry = nil
            detach(&state)
        }
    }

    private func detach(_ state: inout State) {
        state.entry?.release()
        (state.entry, state.generation, state.nameless) = (nil, 0, nil)
    }

    /// The file with the entry, which is attached again at once if its file is no longer at its
    /// path: that is the same attachment, if nothing prevents it.
    private func attachedFile(_ state: inout State, _ isNew: inout Bool) -> Descriptor? {
        let now = ContinuousClock.now
        if let next = state.nextTry, !isAttached(state), state.entry != nil || now >= next {
            // An obstacle may be gone in a second; each try wakes all others.
            state.nextTry = now + .seconds(1)
            detach(&state)
            state.entry = try? slot.attach(state.text.screen)
            if state.entry == nil { state.epoch = Epoch() }
            isNew = true
        }
        return state.entry?.file
    }

    /// Whether others see the entry.
    private func isAttached(_ state: State) -> Bool {
        state.entry?.file.isStill(at: slot.path) ?? false
    }

    /// Writes a sign of life, and the rest again in case it was overwritten. That does not wake the
    /// processes that watch the file.
    func giveSign() { state.withLock { _ = $0.entry?.write($0.text.bytes) } }
}

// MARK: - States

extension SlotLease {
    nonisolated(nonsending) func announce(
        _ screen: AttachedScreen, wantsLead: Bool
    ) async -> LeaseState {
        state.withLock { state in
            let before = state.text
            (state.screen, state.wantsLead) = (screen, wantsLead)
            return update(&state, after: before)
        }
    }

    nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState {
        let count = changes.count
        let now = current()
        guard now == seen else { return now }
        await changes.wait(after: count)
        // The close of a file is reported before its locks are free; see inotify(7).
        for milliseconds in [1, 2, 4, 8, 16] where changes.count != count {
            let now = current()
            guard now == seen else { return now }
            // A cancelled wait is over; the caller checks its task itself.
            try? await Task.sleep(for: .milliseconds(milliseconds))
        }
        return current()
    }

    private func current() -> LeaseState { state.withLock { update(&$0, after: $0.text) } }

    /// Takes or gives up the lead, writes what has changed since `before`, and wakes the others if
    /// they need to know.
    private func update(_ state: inout State, after before: SlotEntry) -> LeaseState {
        var isNew = false
        guard let file = attachedFile(&state, &isNew) else { return .lost }
        if !isLeading(state, file) || !state.wantsLead { dropLead(&state) }
        if state.generation == 0, state.wantsLead { takeLead(&state, file) }
        let text = state.text
        if isNew || text != before {
            guard state.entry?.write(text.bytes) == true else {
                dropLead(&state)
                return .lost
            }
            // Others wait for the current alert; what a follower shows is only read once a second.
            let isOffered = text.screen.asOffered == before.screen.asOffered
            if isNew || !isOffered || text.generation != before.generation
                || (text.generation > 0 && SlotFile.hasOthers(file))
            {
                slot.ring()
            }
        }
        let others = SlotFile.roster(of: file, above: state.generation)
        return state.generation > 0 ? .leading(others) : .following(others)
    }

    private func isLeading(_ state: State, _ file: Descriptor) -> Bool {
        state.generation > 0
            && SlotFile.latestGeneration(in: file, after: state.generation) == state.generation
    }

    /// Takes the lead, unless another screen has it and gives signs of life.
    private func takeLead(_ state: inout State, _ file: Descriptor) {
        // The path might not be openable any more; that must not count as an absent leader.
        let leader = SlotFile.others(in: file).leader
        if let leader, !mayOvertake(leader, &state) { return }
        let last = leader?.generation ?? 0
        guard file.tryLock(F_WRLCK, SlotFile.range(of: last + 1)) else { return }
        state.generation = last + 1
        // Another screen may have taken another generation at the same moment.
        let now = SlotFile.latestGeneration(in: file)
        guard now == 0 || now == last else { return dropLead(&state) }
        // A screen that followed continues with the alert that it shows.
        state.screen.current = state.screen.alert
    }

    /// Whether a leader has been silent for too long; one whose text can't be read is overtaken
    /// when it has had time to write it.
    private func mayOvertake(_ leader: SlotEntry, _ state: inout State) -> Bool {
        if leader.screen != .unreadable {
            return leader.age.map { $0 >= Self.patience } ?? false
        }
        let now = ContinuousClock.now
        guard let nameless = state.nameless, nameless.generation == leader.generation else {
            state.nameless = (leader.generation, now)
            return false
        }
        return nameless.since.duration(to: now) >= Self.patience
    }

    private func dropLead(_ state: inout State) {
        guard state.generation > 0 else { return }
        state.entry?.file.unlock(SlotFile.range(of: state.generation))
        state.generation = 0
    }
}

/// The leases of a store's attached screens.
final class SlotLeases: Sendable {
    private struct WeakLease {
        weak var lease: SlotLease?
    }

    private let references = Mutex<[WeakLease]>([])

    func add(_ lease: SlotLease) {
        references.withLock { references in
            references.removeAll { $0.lease == nil }
            references.append(WeakLease(lease: lease))
        }
    }

    /// Whether an attached screen of this store has an epoch.
    func hold(_ epoch: Epoch) -> Bool { leases.contains { $0.holds(epoch) } }

    /// Writes a sign of life of this process.
    func giveSigns() {
        for lease in leases { lease.giveSign() }
    }

    private var leases: [SlotLease] { references.withLock { $0.compactMap(\.lease) } }
}
