import Glibc
import Synchronization

/// Gives terminals back as they were when the process ends or is stopped from outside.
///
/// What changed a terminal puts it in a slot here. ``restoreAll()`` runs in signal handlers too: it
/// takes no lock, allocates nothing, and calls only functions that signal-safety(7) lists.
enum TerminalGuard {
    private struct Slot: ~Copyable {
        /// The descriptor, −1 for none; written after `saved`, so that a handler sees both.
        let descriptor = Atomic<Int32>(-1)
        var saved = termios()
        /// Whether escape sequences mean something to the terminal.
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

    /// What undoes everything that a screen does: line wrap on, paste as typing, cursor visible.
    static let leaveSequence = "\u{1B}[?7h\u{1B}[?2004l\u{1B}[?25h\u{1B}[0m"
    nonisolated(unsafe) private static let leaveBytes: UnsafeBufferPointer<UInt8> = {
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: leaveSequence.utf8.count)
        _ = bytes.initialize(from: leaveSequence.utf8)
        return UnsafeBufferPointer(bytes)
    }()

    /// Remembers a terminal's settings; beyond 16 terminals at once, only ``remove(_:)`` is missed.
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

    /// Forgets a terminal that has been given back.
    static func remove(descriptor: Int32) {
        lock.withLock { _ in
            for index in 0..<slotCount
            where slots[index].descriptor.load(ordering: .relaxed) == descriptor {
                slots[index].descriptor.store(-1, ordering: .releasing)
            }
        }
    }

    /// Gives every terminal its settings and its cursor back, at once.
    static func restoreAll() {
        for index in 0..<slotCount {
            let descriptor = slots[index].descriptor.load(ordering: .acquiring)
            guard descriptor >= 0 else { continue }
            tcsetattr(descriptor, TCSANOW, &slots[index].saved)
            guard slots[index].hasScreen else { continue }
            // The descriptor doesn't block: a stopped terminal can't hold up the end.
            write(descriptor, leaveBytes.baseAddress, leaveBytes.count)
        }
    }

    // What handled a crash before, such as the runtime's backtraces; indexed by signal.
    nonisolated(unsafe) private static let previous: UnsafeMutablePointer<sigaction> = {
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 32)
        actions.initialize(repeating: sigaction(), count: 32)
        return actions
    }()

    private static func install() {
        // Everything that a handler reads exists before a handler does.
        _ = (slots, leaveBytes, previous)
        atexit { TerminalGuard.restoreAll() }
        for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGQUIT] {
            let before = previous + Int(signal)
            sigaction(signal, nil, before)
            let handler = unsafeBitCast(before.pointee.__sigaction_handler.sa_handler, to: Int.self)
            // 0 is SIG_DFL, 1 is SIG_IGN; a program that handles SIGQUIT may well go on after it.
            guard handler == 0 || (handler != 1 && signal != SIGQUIT) else { continue }
            var action = sigaction()
            action.sa_flags = SA_SIGINFO | SA_ONSTACK
            action.__sigaction_handler.sa_sigaction = { signal, information, _ in
                TerminalGuard.restoreAll()
                sigaction(signal, TerminalGuard.previous + Int(signal), nil)
                // A faulting instruction faults again when this returns, now with its old handler,
                // which then sees the address; a signal that was sent has to be sent again. The
                // terminal's SIGQUIT comes from the kernel, too, but is no fault.
                let isFault =
                    (information?.pointee.si_code ?? 0) > 0
                    && [SIGSEGV, SIGBUS, SIGILL, SIGFPE].contains(signal)
                if !isFault { raise(signal) }
            }
            sigaction(signal, &action, nil)
        }
    }
}
