import Glibc
import Synchronization

/// Restores the modes of terminals when the process ends or crashes.
///
/// Code that changes a terminal's mode registers it here. ``restoreAll()`` also runs in signal
/// handlers: it takes no lock, allocates nothing, and calls only functions that signal-safety(7)
/// lists.
enum TerminalGuard {
    private struct Slot: ~Copyable {
        /// The descriptor, −1 for none; written after `saved`, so that a handler sees both.
        let descriptor = Atomic<Int32>(-1)
        var saved = termios()
        /// Whether the terminal understands escape sequences.
        var hasScreen = false
    }

    private static let slotCount = 16
    // Never freed: a signal handler may read it at any time.
    nonisolated(unsafe) private static let slots: UnsafeMutablePointer<Slot> = {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: slotCount)
        for index in 0..<slotCount { (slots + index).initialize(to: Slot()) }
        return slots
    }()
    private static let lock = Mutex(false)

    /// Undoes everything that a screen sets: line wrap on, bracketed paste off, cursor visible.
    static let leaveSequence = "\u{1B}[?7h\u{1B}[?2004l\u{1B}[?25h\u{1B}[0m"
    /// The same, after erasing what a ``TerminalScreen`` shows, which begins at the cursor.
    nonisolated(unsafe) private static let leaveBytes: UnsafeBufferPointer<UInt8> = {
        let text = "\u{1B}[J" + leaveSequence
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
        _ = bytes.initialize(from: text.utf8)
        return UnsafeBufferPointer(bytes)
    }()

    /// Remembers a terminal's settings; beyond 16 terminals at once, they are not restored when the
    /// process ends or crashes.
    static func add(descriptor: Int32, saved: termios, hasScreen: Bool) {
        lock.withLock { isInstalled in
            if !isInstalled { install() }
            isInstalled = true
            for index in 0..<slotCount
            where slots[index].descriptor.load(ordering: .relaxed) == -1 {
                slots[index].saved = saved
                slots[index].hasScreen = hasScreen
                slots[index].descriptor.store(descriptor, ordering: .releasing)
                return
            }
        }
    }

    /// Forgets a terminal that has been restored.
    static func remove(descriptor: Int32) {
        lock.withLock { _ in
            for index in 0..<slotCount
            where slots[index].descriptor.load(ordering: .relaxed) == descriptor {
                slots[index].descriptor.store(-1, ordering: .releasing)
            }
        }
    }

    /// Restores the settings, the screen and the cursor of every terminal, at once.
    static func restoreAll() {
        for index in 0..<slotCount {
            let descriptor = slots[index].descriptor.load(ordering: .acquiring)
            guard descriptor >= 0 else { continue }
            tcsetattr(descriptor, TCSANOW, &slots[index].saved)
            guard slots[index].hasScreen else { continue }
            // The descriptor doesn't block: a stopped terminal can't delay the exit.
            write(descriptor, leaveBytes.baseAddress, leaveBytes.count)
        }
    }

    // The earlier handlers of crashes, such as the runtime's for backtraces; indexed by signal.
    nonisolated(unsafe) private static let previous: UnsafeMutablePointer<sigaction> = {
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 32)
        actions.initialize(repeating: sigaction(), count: 32)
        return actions
    }()

    private static func install() {
        // Everything that a handler reads must exist before the handler is installed.
        _ = (slots, leaveBytes, previous)
        atexit { TerminalGuard.restoreAll() }
        for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGQUIT] {
            let before = previous + Int(signal)
            sigaction(signal, nil, before)
            let handler = unsafeBitCast(before.pointee.__sigaction_handler.sa_handler, to: Int.self)
            // 0 is SIG_DFL, 1 is SIG_IGN; a program that handles SIGQUIT may well continue.
            guard handler == 0 || (handler != 1 && signal != SIGQUIT) else { continue }
            var action = sigaction()
            action.sa_flags = SA_SIGINFO | SA_ONSTACK
            action.__sigaction_handler.sa_sigaction = { signal, information, _ in
                TerminalGuard.restoreAll()
                sigaction(signal, TerminalGuard.previous + Int(signal), nil)
                // When this returns, a faulting instruction faults again, now with the old handler,
                // which then sees the address; a signal that was sent has to be raised again. The
                // terminal's SIGQUIT comes from the kernel, too, but is not a fault.
                let isFault =
                    (information?.pointee.si_code ?? 0) > 0
                    && [SIGSEGV, SIGBUS, SIGILL, SIGFPE].contains(signal)
                if !isFault { raise(signal) }
            }
            sigaction(signal, &action, nil)
        }
    }
}
