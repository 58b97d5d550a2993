import AlertCore
import Glibc
import Linux

/// A service on another host, which ssh(1) runs for this connection and whose lines it carries.
///
/// ssh has no terminal here: the account's keys, agent and configuration decide, and it asks nothing
/// but by `$SSH_ASKPASS`. It ends when our end of its socket is closed, also if this process is
/// killed.
final class RemoteService: Sendable {
    /// How long connecting to one address may take, in seconds.
    private static let connectTime = 10
    /// How long the first reply may take, in seconds: a host may have several addresses, and somebody
    /// may be asked for a passphrase.
    static let greetingTime = 90
    /// How much of what ssh says is repeated, in bytes.
    private static let messageLimit = 1024

    /// What holds whatever the account's own configuration says, as for scp(1): ssh carries these
    /// lines and nothing else, asks for signs of life, and is nobody else's connection.
    private static let settings = [
        "ConnectTimeout=\(connectTime)", "ServerAliveInterval=15", "ServerAliveCountMax=3",
        "RemoteCommand=none", "ClearAllForwardings=yes", "PermitLocalCommand=no", "ForwardAgent=no",
        "ForwardX11=no", "ControlMaster=no",
    ]

    /// Our end of ssh's standard input and output.
    let socket: Descriptor
    private let destination: ServiceLocation.Destination
    private let process: pid_t
    /// What ssh and the program that it runs have said.
    private let messages: Descriptor

    /// Starts ssh.
    init(at destination: ServiceLocation.Destination) throws(LinuxError) {
        let (own, other) = try UnixSocket.pair()
        messages = try .holding([], name: "alertq-ssh")
        var words = ["ssh", "-T"] + Self.settings.flatMap { ["-o", $0] }
        if let user = destination.user { words += ["-l", user] }
        if let port = destination.port { words += ["-p", "\(port)"] }
        // The command has nothing of the location: the remote shell would read it.
        words += ["--", destination.host, "alertq", "serve", "--stdio"]
        var ssh = ProgramStart(
            words, input: .descriptor(other.raw), output: .descriptor(other.raw),
            errors: .descriptor(messages.raw))
        // A terminal's Ctrl-C is for this program, which has something to say to the service then.
        ssh.leadsSession = true
        process = try withExtendedLifetime(other) { () throws(LinuxError) in try ssh.start() }
        socket = own
        self.destination = destination
    }

    /// Forgets what was said before there was a service.
    func forgetMessages() { ftruncate(messages.raw, 0) }

    /// Ends ssh.
    func end() {
        shutdown(socket.raw, Int32(SHUT_RDWR))
        _ = reap()
    }

    /// Ends ssh, and says why there is no service, if ssh or the other host knows.
    ///
    /// - Parameter error: The reason if neither does.
    func failure(otherwise error: AlertError) -> AlertError {
        shutdown(socket.raw, Int32(SHUT_RDWR))
        let code = reap()?.exitCode
        let lines = messageLines
        guard !lines.isEmpty else { return error }
        let reason = lines.joined(separator: "; ")
        let place = "\(destination)"
        switch code {
        case 127:
            return .missing(location: place, "alertq is not installed there: \(reason)")
        case 66: return .missing(location: place, reason)
        case 77: return .notPermitted(path: place, reason)
        // Other codes of sysexits.h are the command's: it can't do there what it was asked.
        case .some(64...74), 126: return .incompatible(path: place, "has no service: \(reason)")
        case 255, nil:
            let isFinal = lines.contains { line in Self.refusals.contains { line.contains($0) } }
            if isFinal { return .notPermitted(path: place, reason) }
            fallthrough
        default: return .unreachable("can't be reached at \(place): \(reason)")
        }
    }

    /// What ssh says, in every language, where trying again doesn't help, and may lock the account.
    private static let refusals = [
        "Permission denied", "Host key verification failed", "Bad configuration option",
        "Too many authentication failures", "Unable to negotiate", "Bad owner or permissions",
        "usage: ssh",
    ]

    /// Waits for the end of ssh, which is on its way; what hangs is killed.
    private func reap() -> WaitStatus? {
        for signal in [0, SIGTERM, SIGKILL] {
            if signal != 0 { kill(process, signal) }
            for _ in 1...100 {
                if let status = WaitStatus.reap(process, WNOHANG) { return status }
                usleep(10_000)
            }
        }
        // The kernel is not done with it.
        DedicatedThread.start { [process] in _ = WaitStatus.reap(process) }
        return nil
    }

    /// The last lines of what was said.
    private var messageLines: [String] {
        let end = lseek(messages.raw, 0, SEEK_END)
        lseek(messages.raw, max(0, end - Self.messageLimit), SEEK_SET)
        let text = String(decoding: messages.read() ?? [], as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).suffix(3).map(String.init)
    }
}
