import Foundation
import Glibc
import TestSupport

/// A desktop without a monitor: an X server with a window manager; see Xvfb(1).
package final class DesktopSession: Sendable {
    private let server: Child
    private let windows: Child
    private let bus: Child
    /// Where the socket of the message bus is, which would be left in /tmp otherwise.
    private let folder: TemporaryDirectory
    package let display: String
    private let address: String

    /// A notification server other than dunst.
    package static let mate = "/usr/lib/mate-notification-daemon/mate-notification-daemon"

    /// The programs that tests on a desktop need; the rest of the suite needs none of them.
    private static let programs = ["Xvfb", "openbox", "xdotool", "dbus-daemon"]

    /// Whether a test that needs more programs can run. If everything is to be tried, it runs even
    /// without them, and then fails.
    package static func has(_ others: String...) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ProcessInfo.processInfo.environment["ALERTQ_TRY_ALL"] != nil
            || (programs + others).allSatisfy { program in
                folders.contains {
                    FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
                } || FileManager.default.isExecutableFile(atPath: program)
            }
    }

    package init() async throws {
        let server = try Child(
            "Xvfb",
            ["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"])
        guard await eventually({ server.output.text.hasSuffix("\n") }) else {
            throw POSIXError(.ETIMEDOUT)
        }
        self.server = server
        display = ":" + server.output.text.trimmingCharacters(in: .whitespacesAndNewlines)
        windows = try Child("openbox", [], environment: ["DISPLAY": display])
        folder = try TemporaryDirectory()
        let bus = try Child(
            "dbus-daemon",
            ["--session", "--nofork", "--print-address", "--address=unix:dir=\(folder.path)"])
        guard await eventually({ bus.output.text.hasSuffix("\n") }) else {
            throw POSIXError(.ETIMEDOUT)
        }
        self.bus = bus
        address = bus.output.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit {
        // A server that is killed leaves its lock and its socket behind. It may miss a signal that
        // comes just before it waits for its clients, and then hears the next one.
        for _ in 0..<100 where server.poll() == nil {
            server.kill(SIGTERM)
            usleep(100_000)
        }
        server.kill(SIGKILL)
        _ = server.wait()
        let number = display.dropFirst()
        let lock = "/tmp/.X\(number)-lock"
        let owner = try? String(contentsOfFile: lock, encoding: .utf8)
        guard owner?.trimmingCharacters(in: .whitespacesAndNewlines) == "\(server.pid)" else {
            return
        }
        for file in [lock, "/tmp/.X11-unix/X\(number)"] { unlink(file) }
    }

    /// The environment that a program needs to show windows here, and nowhere else.
    package var environment: [String: String] {
        [
            "DISPLAY": display, "WAYLAND_DISPLAY": "", "NO_AT_BRIDGE": "1",
            "XDG_CURRENT_DESKTOP": "", "DBUS_SESSION_BUS_ADDRESS": address,
        ]
    }

    /// Runs xdotool(1) and returns what it prints.
    @discardableResult
    package func xdotool(_ words: String...) async throws -> String {
        let child = try Child("xdotool", words, environment: environment)
        return await child.finish().output
    }

    /// The windows on the screen that have a name.
    package func windows(named name: String) async throws -> [String] {
        try await xdotool("search", "--onlyvisible", "--name", name)
            .split(separator: "\n").map(String.init)
    }

    /// Ends the X server, as when a session crashes.
    package func crash() { server.kill(SIGKILL) }

    /// Ends the message bus.
    package func crashBus() { bus.kill(SIGKILL) }

    /// Starts a program on this desktop.
    package func start(_ words: String...) throws -> Child {
        try Child(words[0], Array(words.dropFirst()), environment: environment)
    }

    /// Waits until a program has a name on the message bus.
    package func offers(_ name: String) async -> Bool {
        await eventually {
            let call = try? self.start(
                "dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus",
                "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner", "string:\(name)")
            return await call?.finish().output.contains("true") == true
        }
    }
}
