import AlertCore
import CLinux
import Dispatch
import Glibc
import Linux
import Synchronization
import TextFormats

/// An open terminal: its size, its mode, and output that blocks nobody.
///
/// The descriptor never blocks, and all reads and writes run on a queue of their own, so that a
/// terminal stopped with Ctrl-S holds up neither a task nor a thread.
final class Terminal: Sendable {
    struct Size: Hashable, Sendable {
        var columns: Int
        var rows: Int
    }

    private struct Output {
        var backlog: [UInt8] = []
        var isScheduled = false
        var whenDrained: [@Sendable () -> Void] = []
        var failure: TerminalError?
    }

    let device: String
    /// The characters that it shows; ``write(_:)`` writes no others.
    let characters: TerminalCharacters
    let descriptor: Descriptor
    let queue: DispatchQueue
    let clock: any TerminalClock
    private let output = Mutex(Output())

    /// How far alerts have come with what was typed and with the time: a test waits for that.
    let progress = Mutex((bytesRead: 0, ticksDone: 0))

    /// Opens a terminal, as a file description of its own: non-blocking mode on a duplicate of
    /// stdin would apply to every process that shares it.
    init(
        device: String, characters: TerminalCharacters = .all,
        clock: any TerminalClock = SystemTerminalClock()
    ) throws(TerminalError) {
        // Without O_NOCTTY a daemon would get the terminal as its controlling one; open(2).
        let number = device.withCString { open($0, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) }
        guard number >= 0 else {
            throw .cannotOpen(device: device, reason: String(cString: strerror(errno)))
        }
        let descriptor = Descriptor(owning: number)
        guard isatty(number) == 1 else { throw .notATerminal(device: device) }
        self.device = device
        self.characters = characters
        self.descriptor = descriptor
        self.queue = DispatchQueue(label: "alertq.terminal")
        self.clock = clock
    }

    /// The current size; 80 × 24 if the terminal does not know it. See ioctl_tty(2), `TIOCGWINSZ`.
    var size: Size {
        var size = winsize()
        let isKnown = clinux_window_size(descriptor.raw, &size) == 0
        return Size(
            columns: isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80,
            rows: isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Whether reading the terminal would not stop this process. See tcgetpgrp(3).
    var isInForeground: Bool {
        // It fails if this is not the controlling terminal, where nothing stops us either.
        let group = tcgetpgrp(descriptor.raw)
        return group <= 0 || group == getpgrp()
    }
}

extension Terminal {
    /// Sends a signal to the jobs in the foreground, as the terminal does for a key such as Ctrl-C
    /// unless a program has had it send keys in another form.
    func send(signal: Int32) {
        guard tcgetpgrp(descriptor.raw) == getpgrp() else { return }
        kill(0, signal)
    }
}

// MARK: - Output

extension Terminal {
    /// Whether everything written so far has reached the terminal.
    var isDrained: Bool { output.withLock { $0.backlog.isEmpty } }

    /// The error that made output fail, if any.
    var outputFailure: TerminalError? { output.withLock { $0.failure } }

    /// Writes in order, without waiting; a stopped terminal gets the output later.
    func write(_ text: String) {
        let mustSchedule = output.withLock { output in
            guard output.failure == nil else { return false }
            output.backlog += characters.ours(text).utf8
            defer { output.isScheduled = true }
            return !output.isScheduled
        }
        if mustSchedule { queue.async { self.pump() } }
    }

    /// Runs a closure on the queue once everything written so far has reached the terminal.
    ///
    /// It never runs if output fails.
    func whenDrained(_ body: @escaping @Sendable () -> Void) {
        let mustSchedule = output.withLock { output in
            guard output.failure == nil else { return false }
            output.whenDrained.append(body)
            defer { output.isScheduled = true }
            return !output.isScheduled
        }
        if mustSchedule { queue.async { self.pump() } }
    }

    /// Waits until everything has reached the terminal or the time is up, even in a cancelled task.
    func drain(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        var pause = DispatchTimeInterval.never
        repeat {
            await withCheckedContinuation { continuation in
                // The first turn of the queue comes after the write that is under way.
                if case .never = pause { return queue.async { continuation.resume() } }
                queue.asyncAfter(deadline: .now() + pause) { continuation.resume() }
            }
            pause = .milliseconds(5)
        } while !isDrained && ContinuousClock.now < end
    }

    private func pump() {
        dispatchPrecondition(condition: .onQueue(queue))
        let waiting: [@Sendable () -> Void]? = output.withLock { output in
            while !output.backlog.isEmpty {
                let count = Glibc.write(descriptor.raw, output.backlog, output.backlog.count)
                let code = errno
                if count >= 0 {
                    output.backlog.removeFirst(count)
                } else if code == EAGAIN {
                    return nil
                } else if code != EINTR {
                    output.failure = TerminalError("write to", device: device, code: code)
                    output.backlog = []
                    output.whenDrained = []
                }
            }
            output.isScheduled = false
            defer { output.whenDrained = [] }
            return output.whenDrained
        }
        guard let waiting else {
            // The terminal is slow or stopped. 50 tries a second cost less than an event source,
            // whose lifetime would have to be managed.
            return queue.asyncAfter(deadline: .now() + .milliseconds(20)) { self.pump() }
        }
        for body in waiting { body() }
    }
}
