import Dispatch
import Glibc
import Linux
import Synchronization

/// The input of a terminal for as long as one alert is shown.
///
/// Creating it sets the terminal's mode; ``stop()`` restores the mode that was found.
final class TerminalInput: Sendable {
    enum Mode: Equatable, Sendable {
        /// Every key at once, without echo; Ctrl-C and Ctrl-Z still send their signals ("cbreak").
        case keys(hasScreen: Bool)
        /// Whole lines, with the terminal's own settings.
        case lines
    }

    enum Event: Sendable {
        /// The bytes of one read, and its number.
        case bytes([UInt8], number: Int, at: ContinuousClock.Instant)
        /// Nothing was typed for the requested time.
        case silence
        /// A tenth of a second has passed: time to check the clock and the window's size. All input
        /// typed before that time has been sent.
        case tick(at: ContinuousClock.Instant)
        /// All output is on the screen, and earlier input has been discarded.
        case ready(at: ContinuousClock.Instant)

        /// When it happened; `nil` for a silence.
        var time: ContinuousClock.Instant? {
            switch self {
            case .bytes(_, _, let time), .tick(let time), .ready(let time): time
            case .silence: nil
            }
        }
    }

    private struct State {
        /// Closures that cancel the event sources.
        var cancels: [@Sendable () -> Void] = []
        var mode: KeyMode?
        var reads = 0
        var isTickPending = false
        var isReading = false
        var isStopped = false
    }

    /// The events; they end with a ``TerminalError`` when the terminal has gone.
    let events: AsyncThrowingStream<Event, any Error>
    private let continuation: AsyncThrowingStream<Event, any Error>.Continuation
    private let terminal: Terminal
    private let mode: Mode
    private let state = Mutex(State())

    /// - Throws: ``TerminalError/inBackground(device:)``, or
    ///   ``TerminalError/failed(operation:device:reason:)`` if the mode can't be set.
    init(_ terminal: Terminal, mode: Mode) throws(TerminalError) {
        guard terminal.isInForeground else { throw .inBackground(device: terminal.device) }
        self.terminal = terminal
        self.mode = mode
        // When the buffer is full, new input is dropped; nobody types 256 reads ahead.
        (events, continuation) = AsyncThrowingStream.makeStream(
            bufferingPolicy: .bufferingOldest(256))
        if case .keys(let hasScreen) = mode {
            let mode = try KeyMode(terminal, hasScreen: hasScreen)
            state.withLock { $0.mode = mode }
        }
        startTicking()
    }

    deinit { stop() }

    /// Whether the terminal, as it was found, echoes what is typed.
    var hadEcho: Bool {
        state.withLock { ($0.mode?.saved.c_lflag ?? 0) & tcflag_t(ECHO) != 0 }
    }

    /// Ends the events; the terminal keeps its mode.
    func end() { continuation.finish() }

    /// Restores the terminal; a second call does nothing.
    func stop() {
        end()
        let mode = state.withLock { state in
            for cancel in state.cancels { cancel() }
            state.cancels = []
            state.isStopped = true
            defer { state.mode = nil }
            return state.mode
        }
        mode?.leave(terminal)
    }

    /// Starts reading as soon as all output is on the screen; earlier input is discarded.
    func readWhenDrained() {
        terminal.whenDrained { [weak self] in self?.startReading() }
    }

    /// Sends `silence` at a time, unless something is typed after read number `number`.
    func awaitSilence(until time: ContinuousClock.Instant, after number: Int) {
        terminal.clock.run(at: time, on: terminal.queue) { [weak self] in
            guard let self else { return }
            // On a busy machine this may run before keys that came earlier are read.
            readWhatHasCome()
            if state.withLock({ $0.reads == number }) { continuation.yield(.silence) }
        }
    }

    /// Acknowledges a tick, so that the next one can be sent.
    func tickDone() {
        state.withLock { $0.isTickPending = false }
        terminal.progress.withLock { $0.ticksDone += 1 }
    }
}

// MARK: - On the terminal's queue

extension TerminalInput {
    private func startReading() {
        // The next alert may be reading already.
        guard !state.withLock({ $0.isStopped }) else { return }
        if terminal.isInForeground { TypedInput.discard(from: terminal.descriptor.raw) }
        let descriptor = terminal.descriptor
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor.raw, queue: terminal.queue)
        source.setEventHandler { [weak self] in self?.readBytes() }
        // The descriptor must not be closed while the source uses it.
        source.setCancelHandler { withExtendedLifetime(descriptor) {} }
        source.resume()
        // Sources are not Sendable, but any thread may cancel one: dispatch_source_cancel(3).
        nonisolated(unsafe) let reading = source
        keep { reading.cancel() }
        state.withLock { $0.isReading = true }
        continuation.yield(.ready(at: terminal.clock.now))
    }

    private func readBytes() {
        // Reading input that is meant for another job would stop this process.
        guard terminal.isInForeground else { return fail(.inBackground(device: terminal.device)) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(terminal.descriptor.raw, &bytes, bytes.count)
        let code = errno
        if count > 0 {
            let number = state.withLock { state in
                state.reads += 1
                return state.reads
            }
            let time = terminal.clock.now
            continuation.yield(.bytes(Array(bytes[..<count]), number: number, at: time))
            terminal.progress.withLock { $0.bytesRead += count }
        } else if count == 0 {
            fail(
                mode == .lines
                    ? .endOfInput(device: terminal.device) : .hungUp(device: terminal.device))
        } else if code != EAGAIN && code != EINTR {
            fail(TerminalError("read from", device: terminal.device, code: code))
        }
    }

    private func fail(_ error: TerminalError) {
        continuation.finish(throwing: error)
        // A terminal that has gone stays readable forever: stop listening.
        state.withLock { state in
            for cancel in state.cancels { cancel() }
            state.cancels = []
        }
    }

    private func tick() {
        if let error = terminal.outputFailure { return fail(error) }
        guard terminal.isInForeground else { return fail(.inBackground(device: terminal.device)) }
        let mustSend = state.withLock { state in
            defer { state.isTickPending = true }
            return !state.isTickPending
        }
        guard mustSend else { return }
        let time = terminal.clock.now
        readWhatHasCome()
        if case .dropped = continuation.yield(.tick(at: time)) { tickDone() }
    }

    private func readWhatHasCome() {
        if state.withLock({ $0.isReading && !$0.isStopped }), hasInput { readBytes() }
    }

    private var hasInput: Bool {
        var descriptor = pollfd(
            fd: terminal.descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 1
    }

    private func startTicking() {
        keep(
            terminal.clock.run(every: .milliseconds(100), on: terminal.queue) { [weak self] in
                self?.tick()
            })
    }

    /// Keeps something to cancel later, or cancels it now if this has been stopped meanwhile.
    private func keep(_ cancel: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            if !state.isStopped { state.cancels.append(cancel) }
            return state.isStopped
        }
        if isStopped { cancel() }
    }
}
