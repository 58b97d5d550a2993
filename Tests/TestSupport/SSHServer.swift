import Foundation
import Glibc
import Linux
import Testing

/// An sshd(8) on a port of 127.0.0.1 with keys of its own, which runs one command for this account,
/// whatever its clients want.
package final class SSHServer: Sendable {
    /// Whether tests of it run; where everything is tried, they fail if it is not installed.
    package static var isTried: Bool {
        access(program, X_OK) == 0 || getenv("ALERTQ_TRY_ALL") != nil
    }
    private static let program = "/usr/sbin/sshd"

    private let directory: TemporaryDirectory
    package let port: UInt16
    private let server: Child

    /// Where it is: `ssh://127.0.0.1:PORT`.
    package var location: String { "ssh://\(host)" }
    /// The same without a scheme.
    package var host: String { "127.0.0.1:\(port)" }
    /// The directory of an `ssh` for `$PATH` that has the key of the account.
    package var programs: String { directory.path + "/bin" }

    /// Starts it.
    ///
    /// - Parameter command: The command line that it runs.
    package init(running command: String) async throws {
        directory = try TemporaryDirectory()
        port = try LocalSocket.listening().port
        let path = directory.path
        chmod(path, 0o755)
        // The user's and the server's own key.
        for name in ["user", "host"] {
            let maker = try Child(
                "ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", "\(path)/\(name)"])
            guard maker.wait() == 0 else { throw TestingError("ssh-keygen fails") }
        }
        let quoted = command.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let key = try String(contentsOfFile: path + "/user.pub", encoding: .utf8)
        let hostKey = try String(contentsOfFile: path + "/host.pub", encoding: .utf8)
        var files = [
            "authorized": "command=\"\(quoted)\",restrict \(key)",
            "known": "[127.0.0.1]:\(port) \(hostKey)",
            "server": """
            ListenAddress 127.0.0.1:\(port)
            HostKey \(path)/host
            AuthorizedKeysFile \(path)/authorized
            PidFile none
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            MaxStartups 100
            """,
            "client": """
            IdentityFile \(path)/user
            IdentitiesOnly yes
            UserKnownHostsFile \(path)/known
            LogLevel ERROR
            """,
        ]
        // A fault that is planted in this build is also one of what sshd runs, which gives its
        // commands nothing else of this environment.
        let fault = ProcessInfo.processInfo.environment["ALERTQ_FAULT"]
        files["server"]? += fault.map { "\nSetEnv ALERTQ_FAULT=\($0)" } ?? ""
        for (name, text) in files {
            try (text + "\n").write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
        }
        try FileManager.default.createDirectory(
            atPath: path + "/bin", withIntermediateDirectories: true)
        _ = try directory.script("bin/ssh", "exec /usr/bin/ssh -F \(path)/client \"$@\"")
        // Where sshd leaves its privileges; the package's service makes it.
        if getuid() == 0 { mkdir("/run/sshd", 0o755) }
        server = try Child(Self.program, ["-D", "-e", "-f", "\(path)/server"])
        let server = server
        guard await eventually({ server.errors.text.contains("Server listening") }) else {
            throw TestingError("sshd does not start: \(server.errors.text)")
        }
    }

    /// Ends it and its connections; it can't be reached any more.
    package func endAll() {
        for process in [server.pid] + Self.descendants(of: server.pid) { kill(process, SIGKILL) }
    }

    private static func descendants(of process: pid_t) -> [pid_t] {
        let path = "/proc/\(process)/task/\(process)/children"
        let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return children.split(separator: " ").compactMap { pid_t($0) }.flatMap {
            [$0] + descendants(of: $0)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that need sshd(8).
    package static var needsSSH: Self {
        .enabled(if: SSHServer.isTried, "openssh-server is not installed")
    }
}
