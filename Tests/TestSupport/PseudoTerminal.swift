import CLinux
import Glibc
import Linux
import Synchronization

/// A terminal whose keyboard is operated by a test; see pty(7).
package final class PseudoTerminal: Sendable {
    package let path: String
    package let columns: Int
    /// The programs' end of the line, kept open so that the terminal outlives them.
    private let line: Descriptor
    /// The keyboard and the screen; `nil` once the terminal has gone.
    private let master: Mutex<Descriptor?>
    private let collected: Collected

    package init(columns: Int = 80, rows: Int = 24) throws {
        var (master, line): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        var size = Self.size(columns, rows)
        guard openpty(&master, &line, &name, nil, &size) == 0 else {
            throw LinuxError.current("open a terminal")
        }
        // Another test's child must not keep this terminal open.
        for descriptor in [master, line] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        self.columns = columns
        self.line = Descriptor(owning: line)
        let end = Descriptor(owning: master)
        self.master = Mutex(end)
        collected = Collected(end, isTerminal: true)
    }

    /// The programs' end of the line.
    package var descriptor: Int32 { line.raw }

    /// Everything written to the screen so far, including escape sequences.
    package var text: String { collected.text }
    package var bytes: [UInt8] { collected.bytes }

    /// Everything written after the first `count` bytes.
    package func text(since count: Int) -> String {
        String(decoding: collected.bytes.dropFirst(count), as: UTF8.self)
    }

    /// Waits until a text appears on the screen after the first `count` bytes.
    package func shows(_ text: String, since count: Int = 0) async -> Bool {
        await eventually { self.text(since: count).contains(text) }
    }

    package func resize(columns: Int, rows: Int = 24) {
        var size = Self.size(columns, rows)
        master.withLock { if let raw = $0?.raw { _ = clinux_set_window_size(raw, &size) } }
    }

    private static func size(_ columns: Int, _ rows: Int) -> winsize {
        winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    }

    /// Hangs up, as when its window is closed.
    package func hangUp() {
        collected.abandon()
        master.withLock { $0 = nil }
    }
}

// MARK: - Keys

extension PseudoTerminal {
    /// Presses keys.
    package func type(_ keys: String) throws {
        try master.withLock { master in
            guard let master else { throw TestingError("the terminal has gone") }
            var left = Array(keys.utf8)[...]
            while !left.isEmpty {
                let count = left.withUnsafeBytes { write(master.raw, $0.baseAddress, $0.count) }
                if count > 0 {
                    left = left.dropFirst(count)
                    continue
                }
                guard errno == EAGAIN else { throw LinuxError.current("type") }
                var request = pollfd(fd: master.raw, events: Int16(POLLOUT), revents: 0)
                guard poll(&request, 1, 60_000) > 0 else {
                    throw TestingError("no program reads the keys")
                }
            }
        }
    }

    /// Presses keys like a person, one after another: faster keys are taken for a paste, or for a
    /// key that is held down.
    package func press(_ keys: String) async throws {
        for key in keys {
            try type(String(key))
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Presses keys until a condition holds, each time after more silence than an alert needs
    /// before it accepts keys.
    package func press(_ keys: String, until isDone: () -> Bool) async throws -> Bool {
        try await eventually {
            try await press(keys)
            return await eventually(within: .seconds(1), each: .milliseconds(10)) { isDone() }
        }
    }
}

// MARK: - Settings

extension PseudoTerminal {
    /// All settings of the terminal.
    package var settings: [UInt32] {
        let settings = modes
        let characters = withUnsafeBytes(of: settings.c_cc) { $0.map(UInt32.init) }
        return [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
            + characters
    }

    package var isCanonical: Bool { modes.c_lflag & tcflag_t(ICANON) != 0 }

    /// Whether lines are edited and echoed, as a shell expects of its terminal.
    package var isInOrder: Bool {
        let flags = tcflag_t(ICANON | ECHO)
        return modes.c_lflag & flags == flags
    }

    private var modes: termios {
        var modes = termios()
        tcgetattr(line.raw, &modes)
        return modes
    }
}
