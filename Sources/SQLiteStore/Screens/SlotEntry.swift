import AlertCore
import Glibc
import Linux
import Synchronization

/// A screen of this process in the slot file, until it is released.
final class SlotEntry: Sendable {
    /// After so long without a sign a screen that leads is overtaken. With a look a second that
    /// makes five seconds at most.
    static let patience = Duration.milliseconds(3500)

    private struct State {
        var descriptor: Descriptor?
        var holder: AttachedScreen
        var json = ScreenJSON()
        /// The generation that it has taken; 0 for none.
        var generation: Int64 = 0
        /// The generation of a leader whose text can't be read, and since when.
        var nameless: (generation: Int64, since: ContinuousClock.Instant)?
    }

    private let state: Mutex<State>
    private let file: SlotFile
    private let index: Int

    /// Takes over a descriptor with the entry's lock.
    init(descriptor: Descriptor, file: SlotFile, index: Int, holder: AttachedScreen) {
        state = Mutex(State(descriptor: descriptor, holder: holder))
        self.file = file
        self.index = index
    }

    /// Whether others see it: its file still stands at its path.
    var isValid: Bool { state.withLock { $0.descriptor?.isStill(at: file.path) ?? false } }

    /// Whether it leads.
    var leads: Bool { state.withLock { leads($0) } }

    private func leads(_ state: State) -> Bool {
        guard let descriptor = state.descriptor, state.generation > 0 else { return false }
        return descriptor.isStill(at: file.path)
            && !SlotFile.isOvertaken(state.generation, in: descriptor)
    }

    /// What became of an entry that was to lead.
    enum Lead {
        /// It led before.
        case kept
        case taken
        /// Another screen leads.
        case notTaken
        /// Its file does not stand at its path any more.
        case gone

        /// Whether it leads now.
        var leads: Bool {
            switch self {
            case .kept, .taken: true
            case .notTaken, .gone: false
            }
        }
    }

    /// Takes the lead, if no other screen has it, or if the one that has it gives no signs.
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
            if let leader = file.leader(), !mayOvertake(leader, &state) { return .notTaken }
            let next = (held.max() ?? 0) + 1
            guard descriptor.tryLock(F_WRLCK, SlotFile.range(of: next)) else { return .notTaken }
            state.generation = next
            // A screen that followed goes on with the alert that it shows.
            state.holder.current = state.holder.alert
            // Another screen may have taken another generation at the same moment.
            guard SlotFile.generations(of: descriptor).subtracting(held).isEmpty else {
                drop(&state)
                return .notTaken
            }
            if write(&state) { return .taken }
            drop(&state)
            return .notTaken
        }
    }

    /// Whether a leader has been silent for too long; one whose text can't be read is when it has
    /// had its time to write it.
    private func mayOvertake(_ leader: SlotFile.Attached, _ state: inout State) -> Bool {
        guard leader.generation > 0 else { return false }
        if leader.holder.pid > 0 { return leader.silence.map { $0 >= Self.patience } ?? false }
        let now = ContinuousClock.now
        guard let nameless = state.nameless, nameless.generation == leader.generation else {
            state.nameless = (leader.generation, now)
            return false
        }
        return nameless.since.duration(to: now) >= Self.patience
    }

    /// Writes down who it is; `false` if that can't be done.
    func enter() -> Bool { state.withLock { write(&$0) } }

    /// What became of something that was to be written down.
    enum Told {
        case written
        /// It stands there already.
        case known
        case failed
    }

    /// Writes down what it shows, and what is current if it leads.
    func show(_ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool) -> Told {
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
            if write(&state) { return .written }
            state.holder = before
            return .failed
        }
    }

    /// Writes down what it can show.
    func offer(_ presenters: [String], isBusy: Bool) {
        state.withLock { state in
            state.holder.offer(presenters, isBusy: isBusy)
            _ = write(&state)
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

    /// Has the other screens look at the file: they watch for the close of a writable descriptor
    /// (`IN_CLOSE_WRITE`).
    func ring() { _ = try? Descriptor.open(file.path, mode: file.mode) }

    /// Writes that this process is there, and the rest anew, whoever has overwritten it. That wakes
    /// nobody who watches the file.
    func giveSign() { state.withLock { _ = write(&$0) } }

    private func write(_ state: inout State) -> Bool {
        let text = SlotText(of: state.holder, leading: state.generation)
        guard let descriptor = state.descriptor, let bytes = text.bytes(&state.json) else {
            return false
        }
        let offset = off_t(index * SlotFile.entryLength)
        return pwrite(descriptor.raw, bytes, bytes.count, offset) == bytes.count
    }

    /// Gives up the lead, and tells the screens that wait for it.
    func stepBack() {
        let hasLed = state.withLock { state in
            guard state.generation > 0 else { return false }
            drop(&state)
            _ = write(&state)
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
            // The next one in its place is not to be taken for this one before it has written its
            // text.
            let empty = [UInt8](repeating: 0, count: SlotFile.entryLength)
            pwrite(descriptor.raw, empty, empty.count, off_t(index * SlotFile.entryLength))
            state.descriptor = nil
            state.generation = 0
        }
    }
}
