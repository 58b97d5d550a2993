import AlertPresenters
import AlertQueue
import CLinux
import Dispatch
import Glibc
import Synchronization
import TextFormats

/// Turns signals into a stream, so that ordinary code undoes what they require to be undone.
///
/// Signals that the parent ignored, as nohup(1) does with SIGHUP, stay ignored. Once a signal asks
/// the process to end, it no longer waits long for locks that other processes hold. Signals within
/// a second of the first are its echo: timeout(1) sends one to its child and one to its group, and
/// a terminal that is closed sends SIGHUP from several sides. A later signal comes from a person
/// who has lost patience, and ends the process at once.
///
/// A process has only one, and keeps it: its handlers are never removed.
final class SignalWatch: Sendable {
    static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// The signals that are watched, and were not ignored before.
    let numbers: [Int32]
    private let receiver: SignalReceiver

    /// Starts watching, including Ctrl-Z if `stops` is set.
    ///
    /// - Parameter limit: How long the process may take to end after the first signal; `nil` means
    ///   as long as it needs.
    init(stops: Bool, endsWithin limit: Duration? = nil) {
        receiver = SignalReceiver(limit: limit)
        let watched = Self.ending + (stops ? [SIGTSTP] : [])
        guard let ends = Self.pipe() else {
            // Without free descriptors, signals still end the process.
            numbers = []
            return
        }
        numbers = watched.filter { clinux_is_ignored($0) == 0 }
        receiver.read(ends.reading)
        signalPipe.store(ends.writing, ordering: .relaxed)
        for number in numbers { Self.handle(number) }
    }

    /// The signals as they come, without the echoes, for one reader after another. A reader first
    /// gets what came before it and nobody has read, and the end if one was asked for.
    var events: AsyncStream<Int32> { receiver.events() }

    /// The first signal that asked the process to end, if one has come.
    var end: Int32? { receiver.end }

    /// What is written to stderr when a later signal cuts the end short.
    func setLastWords(_ words: String) { receiver.setLastWords(words) }

    /// Runs a closure as soon as this process is asked to end, or now if it has been.
    static func whenEnding(_ action: @escaping @Sendable () -> Void) {
        SignalReceiver.whenEnding(action)
    }

    /// From now on hands the signals and those of ``passedOn`` to a relay; `nil` ends that.
    ///
    /// Once its command has started, nothing else is done about them, however many come.
    func passOn(to relay: SignalRelay?) {
        receiver.passOn(to: relay)
        guard relay != nil, !numbers.isEmpty else { return }
        for number in Self.passedOn where clinux_is_ignored(number) == 0 { Self.handle(number) }
    }

    /// The signals that are watched once they are handed on, and were not ignored before.
    var allNumbers: [Int32] {
        numbers + Self.passedOn.filter { !numbers.contains($0) && clinux_is_ignored($0) == 0 }
    }

    private static let passedOn = [SIGTSTP, SIGUSR1, SIGUSR2, SIGALRM]

    /// Both ends of a pipe, neither of which ever blocks.
    private static func pipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        return (ends[0], ends[1])
    }

    /// Has a signal written into the pipe. Its handler is replaced in one step, so that no signal
    /// is lost in between. See sigaction(2) and signal-safety(7).
    private static func handle(_ number: Int32) {
        var action = sigaction()
        action.sa_flags = SA_RESTART | SA_SIGINFO
        action.__sigaction_handler.sa_sigaction = { number, info, _ in
            let code = errno
            var byte = UInt8(truncatingIfNeeded: number)
            if let info, info.pointee.si_code > 0 { byte |= kernelMark }
            _ = write(signalPipe.load(ordering: .relaxed), &byte, 1)
            errno = code
        }
        sigaction(number, &action, nil)
    }
}

/// Where signals are written. It is never closed: a handler may run at any time.
private let signalPipe = Atomic<Int32>(-1)

/// Marks a signal in the pipe that the kernel sent; see sigaction(2), `si_code`.
private let kernelMark: UInt8 = 0x80

/// What happens on the queue of the signals.
private final class SignalReceiver: Sendable {
    /// How long after the first signal others count as the same one.
    private static let echoTime = Duration.seconds(1)

    private struct State {
        var end: (number: Int32, at: ContinuousClock.Instant)?
        var lastWords: String?
        var relay: SignalRelay?
        /// Who reads the signals, and how many have done so.
        var reader: (number: Int, signals: AsyncStream<Int32>.Continuation)?
        var readers = 0
        var unread: [Int32] = []
    }

    /// What runs when the process is asked to end.
    private struct EndActions {
        var haveRun = false
        var closures: [@Sendable () -> Void] = []
    }

    private static let endActions = Mutex(EndActions())

    private let state = Mutex(State())
    private let limit: Duration?
    private let queue = DispatchQueue(label: "alertq.signals")

    init(limit: Duration?) {
        self.limit = limit
    }

    func events() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        let number = state.withLock { state in
            state.readers += 1
            state.reader = (state.readers, continuation)
            // An earlier reader may have ended without looking at it.
            if let end = state.end, !state.unread.contains(end.number) {
                continuation.yield(end.number)
            }
            for number in state.unread { continuation.yield(number) }
            state.unread = []
            return state.readers
        }
        continuation.onTermination = { [self] _ in
            state.withLock { if $0.reader?.number == number { $0.reader = nil } }
        }
        return stream
    }

    private func yield(_ number: Int32) {
        state.withLock { state in
            if let reader = state.reader {
                reader.signals.yield(number)
            } else {
                state.unread.append(number)
            }
        }
    }

    var end: Int32? { state.withLock { $0.end?.number } }

    func setLastWords(_ words: String) { state.withLock { $0.lastWords = words } }

    func passOn(to relay: SignalRelay?) { state.withLock { $0.relay = relay } }

    static func whenEnding(_ action: @escaping @Sendable () -> Void) {
        let isNow = endActions.withLock { actions in
            if !actions.haveRun { actions.closures.append(action) }
            return actions.haveRun
        }
        if isNow { action() }
    }

    /// Receives what is written into the pipe, for as long as the process runs.
    func read(_ descriptor: Int32) {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        // The source keeps itself: nothing that it refers to may ever be freed.
        source.setEventHandler { [self] in
            var numbers = [UInt8](repeating: 0, count: 64)
            let count = Glibc.read(descriptor, &numbers, numbers.count)
            for byte in numbers.prefix(max(0, count)) {
                receive(Int32(byte & ~kernelMark), isFromKernel: byte & kernelMark != 0)
            }
            withExtendedLifetime(source) {}
        }
        source.activate()
    }

    private func receive(_ number: Int32, isFromKernel: Bool) {
        // Until the command has started, an end that takes too long is cut short as ever.
        let relay = state.withLock { $0.relay }
        if let relay, relay.receive(number, isFromKernel: isFromKernel) { return }
        guard SignalWatch.ending.contains(number) else {
            yield(number)
            return
        }
        let now = ContinuousClock.now
        let first = state.withLock { state in
            defer { state.end = state.end ?? (number, now) }
            return state.end?.at
        }
        if let first {
            if now - first >= Self.echoTime { endAtOnce(number) }
            return
        }
        runEndActions()
        yield(number)
        guard let limit else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(limit.milliseconds))) {
            self.endAtOnce(number)
        }
    }

    private func runEndActions() {
        let closures = Self.endActions.withLock { actions in
            actions.haveRun = true
            defer { actions.closures.removeAll() }
            return actions.closures
        }
        for action in closures { action() }
    }

    private func endAtOnce(_ number: Int32) -> Never {
        TerminalPresenter.restore()
        if let words = state.withLock({ $0.lastWords }) {
            // A blocked stream must not delay the end now.
            var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            let line = Array(TerminalCharacters().ours("alertq: \(SafeText.line(words))\n").utf8)
            if poll(&request, 1, 0) > 0 { _ = write(STDERR_FILENO, line, line.count) }
        }
        Program.die(of: number)
    }
}
