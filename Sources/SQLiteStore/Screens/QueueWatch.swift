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
    private enum Phase {
        case idle
        case running
        case stopped
    }

    private struct State {
        var phase = Phase.idle
        var inotify: Descriptor?
        /// The event sources of the watch's queue: inotify and a timer.
        var sources: [DispatchSource] = []
        var bellWatch: Int32 = -1
        var slotWatch: Int32 = -1
        var bellFile: FileIdentity?
        var slotFile: FileIdentity?
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
            watchFiles(&state)
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(
                deadline: .now() + .seconds(1), repeating: .seconds(1),
                leeway: .milliseconds(100))
            timer.setEventHandler { [weak self] in self?.tick() }
            timer.resume()
            // The protocols that Dispatch returns are not Sendable, but their class is.
            state.sources += [timer as? DispatchSource].compactMap { $0 }
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

    private func watchFiles(_ state: inout State) {
        guard let inotify = Descriptor.inotify() else { return }
        state.inotify = inotify
        addWatches(&state)
        let source = DispatchSource.makeReadSource(fileDescriptor: inotify.raw, queue: queue)
        source.setEventHandler { [weak self] in self?.drain() }
        // Keeps the descriptor open until Dispatch has released it.
        source.setCancelHandler { withExtendedLifetime(inotify) {} }
        source.resume()
        state.sources += [source as? DispatchSource].compactMap { $0 }
    }

    private func tick() {
        state.withLock { addWatches(&$0) }
        onTick()
    }

    /// Watches the files that are at their paths now, unless they are already being watched.
    private func addWatches(_ state: inout State) {
        guard let inotify = state.inotify else { return }
        let gone = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB)
        let bell = FileIdentity(path: files.bell)
        if bell != state.bellFile {
            state.bellFile = bell
            state.bellWatch = inotify_add_watch(
                inotify.raw, files.bell, UInt32(IN_MODIFY) | gone)
        }
        let slot = FileIdentity(path: files.slot)
        if slot != state.slotFile {
            state.slotFile = slot
            state.slotWatch = inotify_add_watch(
                inotify.raw, files.slot, UInt32(IN_CLOSE_WRITE) | gone)
        }
    }

    /// Reads the events of inotify, and passes them on at most once per file.
    private func drain() {
        let (bell, slot) = state.withLock { state in
            defer { addWatches(&state) }
            return readEvents(&state)
        }
        if bell { onBell() }
        if slot { onSlot() }
    }

    private func readEvents(_ state: inout State) -> (bell: Bool, slot: Bool) {
        var (bell, slot) = (false, false)
        guard let inotify = state.inotify else { return (bell, slot) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        var count = read(inotify.raw, &buffer, buffer.count)
        while count > 0 {
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = bytes.loadUnaligned(
                        fromByteOffset: offset, as: inotify_event.self)
                    let isGone =
                        event.mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) != 0
                    let overflowed = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    if event.wd == state.bellWatch || overflowed {
                        bell = true
                        if isGone { state.bellFile = nil }
                    }
                    if event.wd == state.slotWatch || overflowed {
                        slot = true
                        if isGone { state.slotFile = nil }
                    }
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
            count = read(inotify.raw, &buffer, buffer.count)
        }
        return (bell, slot)
    }
}

extension Descriptor {
    /// A new inotify instance, or `nil` if the user has reached the limit.
    static func inotify() -> Descriptor? {
        let raw = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        return raw < 0 ? nil : Descriptor(owning: raw)
    }
}
