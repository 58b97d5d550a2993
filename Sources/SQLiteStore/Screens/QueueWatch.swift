import AlertCore
import CLinux
import Dispatch
import Glibc
import Linux
import Synchronization

/// Watches the bell and the slot of a queue, and also checks everything once a second.
///
/// The slow check covers what inotify misses: a ring lost in a crash, a file that was replaced, and
/// everything if the user already has 128 inotify instances and gets no more.
final class QueueWatch: Sendable {
    private enum Phase { case idle, running, stopped }

    private struct State {
        var phase = Phase.idle
        /// The event sources of the watch's queue: inotify and a timer.
        var sources: [DispatchSource] = []
        var inotify: Descriptor?
        /// The numbers of the watches of the files that are at their paths now, or negative.
        var bell: Int32 = -1
        var slot: Int32 = -1
    }

    private let files: QueueFiles
    private let onBell: @Sendable () -> Void
    private let onSlot: @Sendable () -> Void
    private let onTick: @Sendable () -> Void
    private let queue = DispatchQueue(label: "alertq.watch")
    private let state = Mutex(State())

    init(
        files: QueueFiles, onBell: @escaping @Sendable () -> Void,
        onSlot: @escaping @Sendable () -> Void, onTick: @escaping @Sendable () -> Void
    ) {
        self.files = files
        self.onBell = onBell
        self.onSlot = onSlot
        self.onTick = onTick
    }

    deinit {
        stop()
    }

    /// Starts watching; returns whether it had not been started before.
    @discardableResult
    func start() -> Bool {
        state.withLock { state in
            guard state.phase == .idle else { return false }
            state.phase = .running
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(
                deadline: .now() + .seconds(1), repeating: .seconds(1),
                leeway: .milliseconds(100))
            timer.setEventHandler { [weak self] in self?.tick() }
            var sources: [any DispatchSourceProtocol] = [timer]
            let instance = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            if instance >= 0 {
                let inotify = Descriptor(owning: instance)
                state.inotify = inotify
                watchFiles(&state)
                let source = DispatchSource.makeReadSource(
                    fileDescriptor: inotify.raw, queue: queue)
                source.setEventHandler { [weak self] in self?.drain() }
                // Keeps the descriptor open until Dispatch has released it.
                source.setCancelHandler { withExtendedLifetime(inotify) {} }
                sources.append(source)
            }
            for source in sources { source.resume() }
            // The protocols that Dispatch returns are not Sendable, but their class is.
            state.sources = sources.compactMap { $0 as? DispatchSource }
            return true
        }
    }

    /// Stops watching.
    ///
    /// The sources are cancelled at once: one that is no longer read would find its descriptor
    /// readable over and over.
    func stop() {
        state.withLock { state in
            state.phase = .stopped
            state.inotify = nil
            for source in state.sources { source.cancel() }
            state.sources = []
        }
    }

    private func tick() {
        state.withLock { watchFiles(&$0) }
        onTick()
    }

    /// Watches the files that are at their paths now. A file that is already being watched keeps
    /// its number; see inotify_add_watch(2).
    private func watchFiles(_ state: inout State) {
        guard let inotify = state.inotify?.raw else { return }
        let gone = IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB
        state.bell = inotify_add_watch(inotify, files.bell, UInt32(IN_MODIFY | gone))
        state.slot = inotify_add_watch(inotify, files.slot, UInt32(IN_CLOSE_WRITE | gone))
    }

    /// Reads the events of inotify, and passes them on at most once per file.
    private func drain() {
        let (numbers, bell, slot) = state.withLock { state in
            defer { watchFiles(&state) }
            return (state.inotify?.watchesWithEvents() ?? [], state.bell, state.slot)
        }
        // −1 stands for events that were lost, because there were too many.
        if !numbers.isDisjoint(with: [-1, bell]) { onBell() }
        if !numbers.isDisjoint(with: [-1, slot]) { onSlot() }
    }
}
