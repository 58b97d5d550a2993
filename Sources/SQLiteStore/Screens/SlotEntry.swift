import AlertCore
import Glibc
import Linux
import Synchronization

/// A screen of this process in the slot file, until it is released.
final class SlotEntry: Sendable {
    /// After this time without a sign, a leading screen is overtaken. Checked once a second, that
    /// takes at most five seconds.
    static let patience = Duration.milliseconds(3500)

    private struct State {
        var descriptor: Descriptor?
        var holder: AttachedScreen
        /// The generation that it has taken; 0 if none.
        var generation: Int64 = 0
        /// The generation of a leader whose text can't be read, and since when.
        var nameless: (generation: Int64, since: ContinuousClock.Instant)?
    }

    private let state: Mutex<State>
    private let file: SlotFile
    private let index: Int

    /// Creates an entry from a descriptor that holds the entry's lock.
    init(descriptor: Descriptor, file: SlotFile, index: Int, holder: AttachedScreen) {
        state = Mutex(State(descriptor: descriptor, holder: holder))
        self.file = file
        self.index = index
    }

    /// Whether others see it: its file is still at its path.
    var isValid: Bool { state.withLock { $0.descriptor?.isStill(at: file.path) ?? false } }

    /// Whether it leads.
    var leads: Bool { state.withLock { leads($0) } }

    private func leads(_ state: State) -> Bool {
        guard let descriptor = state.descriptor, state.generation > 0 else { return false }
        return descriptor.isStill(at: file.path)
            && !SlotFile.isOvertaken(state.generation, in: descriptor)
    }

    /// The result of an entry's attempt to lead.
    enum Lead {
        /// It led before.
        case kept
        case taken
        /// Another screen leads.
        case notTaken
        /// Its file is no longer at its path.
        case gone

        /// Whether it leads now.
        var leads: Bool {
            switch self {
            case .kept, .taken: true
            case .notTaken, .gone: false
            }
        }
    }

    /// Takes the lead, unless another screen has it and gives signs of life.
    func lead() -> Lead {
        state.withLock { state in
            guard let descriptor = state.descriptor, descriptor.isStill(at: file.path) else {
                return .gone
            }
            if state.generation > 0, !SlotFile.isOvertaken(state.generation, in: descriptor) {
                return .kept
            }
            drop(&state)
            let held = SlotFile.generations(of: descriptor)
            // The path might not be openable any more; that must not count as an absent leader.
            let leader = file.leader(of: descriptor)
            if let leader, !mayOvertake(leader, &state) { return .notTaken }
            let next = (held.max() ?? 0) + 1
            guard descriptor.tryLock(F_WRLCK, SlotFile.range(of: next)) else { return .notTaken }
            state.generation = next
            // A screen that followed continues with the alert that it shows.
            state.holder.current = state.holder.alert
            // Another screen may have taken another generation at the same moment.
            guard SlotFile.generations(of: descriptor).subtracting(held).isEmpty else {
                drop(&state)
                return .notTaken
            }
            if write(state) { return .taken }
            drop(&state)
            return .notTaken
        }
    }

    /// Whether a leader has been silent for too long; one whose text can't be read is overtaken
    /// when it has had time to write it.
    private func mayOvertake(_ leader: SlotFile.Attached, _ state: inout State) -> Bool {
        if leader.holder.pid > 0 { return leader.silence.map { $0 >= Self.patience } ?? false }
        let now = ContinuousClock.now
        guard let nameless = state.nameless, nameless.generation == leader.generation else {
            state.nameless = (leader.generation, now)
            return false
        }
        return nameless.since.duration(to: now) >= Self.patience
    }

    /// Writes the entry's text.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if the names of the presenters are too long for it,
    ///   and ``AlertError/storage(operation:_:)``.
    func enter() throws(AlertError) {
        try state.withLock { state throws(AlertError) in
            let text = SlotText(of: state.holder, leading: state.generation)
            guard text.bytes != nil else {
                throw .invalid("presenters", "have names that are too long together")
            }
            errno = 0
            guard !write(state) else { return }
            if errno != 0 { throw SystemError.current("write", file.path) }
            throw .storage(operation: "write \(file.path)", "only a part could be written")
        }
    }

    /// The result of an announcement.
    enum ShowResult {
        case written
        /// The entry already had this text.
        case known
        case failed
    }

    /// Announces what it shows, and which alert is current if it leads.
    func show(_ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool) -> ShowResult {
        state.withLock { state in
            let isLeading = leads(state)
            guard isLeading || state.descriptor?.isStill(at: file.path) == true else {
                return .failed
            }
            var holder = state.holder
            holder.alert = alert
            holder.current = isLeading ? current : nil
            holder.hasDelegate = hasDelegate
            guard holder != state.holder else { return .known }
            let before = state.holder
            state.holder = holder
            if write(state) { return .written }
            state.holder = before
            return .failed
        }
    }

    /// Announces what it can show.
    func offer(_ presenters: [String], isBusy: Bool) {
        state.withLock { state in
            state.holder.offer(presenters, isBusy: isBusy)
            _ = write(state)
        }
        ring()
    }

    /// The other screens; none of them is the leader if this one leads.
    var others: ScreenRoster {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return ScreenRoster() }
            return file.roster(of: descriptor, besides: index, above: state.generation)
        }
    }

    /// Makes the other screens read the file: they watch for the close of a writable descriptor
    /// (`IN_CLOSE_WRITE`).
    func ring() { _ = try? Descriptor.open(file.path, mode: file.mode) }

    /// Writes a sign of life, and the rest again in case it was overwritten. That does not wake the
    /// processes that watch the file.
    func giveSign() { state.withLock { _ = write($0) } }

    private func write(_ state: State) -> Bool {
        let text = SlotText(of: state.holder, leading: state.generation)
        guard let descriptor = state.descriptor, let bytes = text.bytes else {
            return false
        }
        let offset = off_t(index * SlotFile.entryLength)
        return pwrite(descriptor.raw, bytes, bytes.count, offset) == bytes.count
    }

    /// Gives up the lead, and wakes the screens that wait for it.
    func stepBack() {
        let hasLed = state.withLock { state in
            guard state.generation > 0 else { return false }
            drop(&state)
            _ = write(state)
            return true
        }
        if hasLed { ring() }
    }

    private func drop(_ state: inout State) {
        guard state.generation > 0 else { return }
        state.holder.current = nil
        state.descriptor?.unlock(SlotFile.range(of: state.generation))
        state.generation = 0
    }

    /// Detaches the screen.
    func release() {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return }
            // The next screen in this place must not be taken for this one before it has written
            // its text.
            let empty = [UInt8](repeating: 0, count: SlotFile.entryLength)
            pwrite(descriptor.raw, empty, empty.count, off_t(index * SlotFile.entryLength))
            // A program that another thread starts has a copy of the descriptor for a moment, which
            // would keep the locks.
            if state.generation > 0 { descriptor.unlock(SlotFile.range(of: state.generation)) }
            descriptor.unlock(SlotFile.range(ofEntry: index))
            state.descriptor = nil
            state.generation = 0
        }
    }
}
