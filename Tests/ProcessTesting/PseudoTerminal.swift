import CLinux
import Foundation
import Glibc

/// A terminal with a test at its keyboard; see pty(7).
package final class PseudoTerminal: Sendable {
    package let path: String
    private let master: FileHandle
    private let keeper: FileHandle
    private let collected: Collected

    package init(columns: UInt16 = 80, rows: UInt16 = 24) throws {
        var (master, slave): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var name = [CChar](repeating: 0, count: 128)
        guard openpty(&master, &slave, &name, nil, &size) == 0 else { throw POSIXError(.EIO) }
        path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        for descriptor in [master, slave] {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        self.master = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        // Kept open, so that the terminal outlives the processes on it.
        keeper = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        collected = Collected(self.master, isTerminal: true)
    }

    /// Everything that was written to the screen so far, escape sequences included.
    package var screen: String { collected.text }
    package var bytes: Data { collected.data }

    /// What was written since some moment.
    package func screen(since count: Int) -> String {
        String(decoding: collected.data.dropFirst(count), as: UTF8.self)
    }

    /// Presses keys.
    package func type(_ keys: String) throws {
        try master.write(contentsOf: Data(keys.utf8))
    }

    /// Presses keys like a person, one after the other: what comes faster is taken for a paste, or
    /// for a key that is held down.
    package func press(_ keys: String) async throws {
        for key in keys {
            try type(String(key))
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Presses keys until something holds, each time after more silence than an alert wants before
    /// it takes keys.
    package func press(
        _ keys: String, until isDone: @Sendable () -> Bool
    ) async throws -> Bool {
        try await eventually {
            try await press(keys)
            for _ in 0..<100 where !isDone() { try await Task.sleep(for: .milliseconds(10)) }
            return isDone()
        }
    }

    /// Waits until a text is on the screen that was not there before `count` bytes.
    package func shows(_ text: String, since count: Int = 0) async -> Bool {
        await eventually { self.screen(since: count).contains(text) }
    }

    package func resize(columns: UInt16, rows: UInt16 = 24) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = clinux_set_window_size(master.fileDescriptor, &size)
    }

    /// Whether lines are edited and echoed, as a shell expects to find its terminal.
    package var isInOrder: Bool {
        var settings = termios()
        tcgetattr(keeper.fileDescriptor, &settings)
        let flags = tcflag_t(ICANON | ECHO)
        return settings.c_lflag & flags == flags
    }
}
