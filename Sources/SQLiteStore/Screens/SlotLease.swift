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
        /// What the entry says.
        var screen: AttachedScreen
        /// `nil` while the file can't be used.
        var entry: HeldEntry?
        /// The generation that it has taken; 0 if none.
        var generation: Int64 = 0
        /// The generation of a leader whose text can't be read, and since when.
        var nameless: (generation: Int64, since: ContinuousClock.Instant)?
        /// When a screen without an entry tries to attach again; `nil` once it is released.
        var nextTry: ContinuousClock.Instant? = .now
        /// The others as last read.
        var seen: ScreenRoster?
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

    /// Detaches the screen.
    func release() {
        state.withLock { state in
            state.nextTry = nil
            detach(&state)
        }
    }

    private func detach(_ state: inout State) {
        state.entry?.release()
        (state.entry, state.generation, state.screen.current) = (nil, 0, nil)
        state.nameless = nil
    }

    /// The file with the entry, which is attached again if its file is no longer at its path.
    private func attachedFile(_ state: inout State) -> Descriptor? {
        let now = ContinuousClock.now
        if let next = state.nextTry, !isAttached(state), state.entry != nil || now >= next {
            // An obstacle may be gone in a second; each try wakes all others.
            state.nextTry = now + .seconds(1)
            detach(&state)
            state.entry = try? slot.attach(state.screen)
        }
        return state.entry?.file
    }

    /// Whether others see the entry.
    private func isAttached(_ state: State) -> Bool {
        state.entry?.file.isStill(at: slot.path) ?? false
    }

    private func write(_ state: State) -> Bool {
        let text = SlotEntry(of: state.screen, leading: state.generation)
        return state.entry?.write(text.bytes) ?? false
    }

    /// Writes a sign of life, and the rest again in case it was overwritten. That does not wake the
    /// processes that watch the file.
    func giveSign() { state.withLock { _ = write($0) } }
}

// MARK: - The lead

extension SlotLease {
    var isLeading: Bool { state.withLock { isLeading($0) } }

    private func isLeading(_ state: State) -> Bool {
        guard let file = state.entry?.file, state.generation > 0, isAttached(state) else {
            return false
        }
        return SlotFile.latestGeneration(in: file, after: state.generation) == state.generation
    }

    nonisolated(nonsending) func lead() async -> Bool {
        state.withLock { state in
            guard let file = attachedFile(&state) else { return false }
            if isLeading(state) { return true }
            dropLead(&state)
            return takeLead(&state, file)
        }
    }

    /// Takes the lead, unless another screen has it and gives signs of life.
    private func takeLead(_ state: inout State, _ file: Descriptor) -> Bool {
        // The path might not be openable any more; that must not count as an absent leader.
        let leader = SlotFile.others(in: file).leader
        if let leader, !mayOvertake(leader, &state) { return false }
        let last = leader?.generation ?? 0
        guard file.tryLock(F_WRLCK, SlotFile.range(of: last + 1)) else { return false }
        state.generation = last + 1
        // A screen that followed continues with the alert that it shows.
        state.screen.current = state.screen.alert
        // Another screen may have taken another generation at the same moment.
        let now = SlotFile.latestGeneration(in: file)
        guard now == 0 || now == last, write(state) else {
            dropLead(&state)
            return false
        }
        ringIfNeeded(file)
        return true
    }

    /// Whether a leader has been silent for too long; one whose text can't be read is overtaken
    /// when it has had time to write it.
    private func mayOvertake(_ leader: SlotEntry, _ state: inout State) -> Bool {
        if leader.screen.pid > 0 { return leader.age.map { $0 >= Self.patience } ?? false }
        let now = ContinuousClock.now
        guard let nameless = state.nameless, nameless.generation == leader.generation else {
            state.nameless = (leader.generation, now)
            return false
        }
        return nameless.since.duration(to: now) >= Self.patience
    }

    private func dropLead(_ state: inout State) {
        guard state.generation > 0 else { return }
        state.screen.current = nil
        state.entry?.file.unlock(SlotFile.range(of: state.generation))
        state.generation = 0
    }

    /// Gives up the lead, and wakes the screens that wait for it.
    func stepBack() {
        state.withLock { state in
            guard state.generation > 0 else { return }
            dropLead(&state)
            _ = write(state)
            slot.ring()
        }
    }
}

// MARK: - What it shows

extension SlotLease {
    nonisolated(nonsending) func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool
    ) async -> Bool {
        state.withLock { state in
            let (before, isLeading) = (state.screen, isLeading(state))
            (state.screen.alert, state.screen.hasDelegate) = (alert, hasDelegate)
            state.screen.current = isLeading ? current : nil
            guard let file = state.entry?.file, isAttached(state) else { return false }
            guard state.screen != before else { return true }
            guard write(state) else {
                state.screen = before
                return false
            }
            // Others wait for the current alert; what a follower shows is only read once a second.
            if isLeading { ringIfNeeded(file) }
            return true
        }
    }

    func offer(_ presenters: [String], isBusy: Bool) {
        state.withLock { state in
            let before = state.screen
            state.screen.offer(presenters, isBusy: isBusy)
            guard state.screen != before else { return }
            _ = write(state)
            slot.ring()
        }
    }

    private func ringIfNeeded(_ file: Descriptor) {
        if SlotFile.hasOthers(file) { slot.ring() }
    }
}

// MARK: - The others

extension SlotLease {
    var others: ScreenRoster? {
        state.withLock { state in
            state.seen = state.entry.map { SlotFile.roster(of: $0.file, above: state.generation) }
            return state.seen
        }
    }

    nonisolated(nonsending) func lookAtOthers() async -> ScreenRoster? { others }

    var changeCount: UInt64 { changes.count }

    nonisolated(nonsending) func waitForChange(after count: UInt64) async {
        let before = state.withLock { $0.seen }
        await changes.wait(after: count)
        guard changes.count != count else { return }
        // The close of a file is reported before its locks are free; see inotify(7).
        for milliseconds in [1, 2, 4, 8, 16] where before != nil {
            guard others == before else { return }
            // A cancelled wait is over; the caller checks its task itself.
            try? await Task.sleep(for: .milliseconds(milliseconds))
        }
    }
}

/// The leases of a store's attached screens.
final class SlotLeases: Sendable {
    private struct Reference {
        weak var lease: SlotLease?
    }

    private let references = Mutex<[Reference]>([])

    func add(_ lease: SlotLease) {
        references.withLock { references in
            references.removeAll { $0.lease == nil }
            references.append(Reference(lease: lease))
        }
    }

    /// Writes a sign of life of this process.
    func giveSigns() {
        for lease in references.withLock({ $0.compactMap(\.lease) }) { lease.giveSign() }
    }
}
