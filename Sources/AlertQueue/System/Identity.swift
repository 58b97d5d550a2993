import Glibc

/// Who this process is, as the system knows it.
package struct Identity: Sendable, Hashable {
    package var uid: UInt32
    package var user: String?
    /// The account that logged in, whatever became of the uid since; see pam_loginuid(8).
    package var loginUID: UInt32?
    /// The kernel's audit session, one a login; see `/proc/[pid]/sessionid` in proc(5).
    package var session: UInt32?
    package var tty: String?
    package var ssh: String?
    package var host: String
    package var pid: Int32

    package init(
        uid: UInt32, user: String?, loginUID: UInt32?, session: UInt32?, tty: String?,
        ssh: String?, host: String, pid: Int32
    ) {
        self.uid = uid
        self.user = user
        self.loginUID = loginUID
        self.session = session
        self.tty = tty
        self.ssh = ssh
        self.host = host
        self.pid = pid
    }

    /// The identity of this process, with its uid as it is now.
    package static var current: Identity {
        let uid = geteuid()
        return Identity(
            uid: uid, user: userName(uid), loginUID: kernelID("/proc/self/loginuid"),
            session: kernelID("/proc/self/sessionid"), tty: terminal(),
            // An address has 45 characters at most; the variable may hold anything.
            ssh: environment("SSH_CONNECTION")?.split(separator: " ").first.map {
                String($0.prefix(64))
            },
            host: hostName(), pid: getpid())
    }

    /// This identity as a responder through a presenter or verb.
    package func responder(via: String) -> Responder {
        Responder(uid: uid, user: user, via: via, tty: tty, ssh: ssh, host: host, pid: pid)
    }

    /// The value of an environment variable, or `nil` where it is unset or empty.
    package static func environment(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    private static func kernelID(_ path: String) -> UInt32? {
        // The kernel writes −1, as an unsigned number, for "none".
        LinuxFile.text(path).flatMap(UInt32.init).flatMap { $0 == .max ? nil : $0 }
    }

    /// The name of an account, if it has one; see getpwuid_r(3).
    package static func userName(_ uid: uid_t) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(uid, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
            return nil
        }
        return String(cString: entry.pw_name)
    }

    /// The first of the standard descriptors that is a terminal.
    private static func terminal() -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        for descriptor in [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO]
        where ttyname_r(descriptor, &buffer, buffer.count) == 0 {
            return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        }
        return nil
    }

    private static func hostName() -> String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
