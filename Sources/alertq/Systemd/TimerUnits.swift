import AlertQueue
import FoundationEssentials
import Glibc
import Linux

/// The systemd units that back a queue up every day and, if requested, purge it every month; see
/// systemd.timer(5).
struct TimerUnits: Sendable {
    /// One unit's file.
    struct File: Sendable {
        let name: String
        let text: String
    }

    private static let backup = "alertq-backup"
    private static let purge = "alertq-purge"
    /// The first line of each file.
    private static let mark = "# Made by: alertq doctor --timers"

    let files: [File]
    /// The folder that they belong in.
    let folder: String
    /// The options that systemctl(1) needs for that folder.
    private let systemctl: [String]

    /// - Parameters:
    ///   - directory: Where the backups go.
    ///   - count: How many are kept.
    ///   - age: How old texts get before they are erased, as `purge` takes it; `nil` keeps them.
    ///   - isSystem: Whether the system runs them, and not a user's session.
    init(
        program: String, queue: [String], directory: String, keeping count: Int, age: String?,
        isSystem: Bool, in context: Context
    ) throws {
        let backup = [program, BackupCommand.name, directory, "--keep", "\(count)"] + queue
        var files = Self.pair(
            Self.backup, "backs the queue up", backup, every: "daily")
        if let age {
            let purge = [program, PurgeCommand.name, "--older-than", age] + queue
            files += Self.pair(
                Self.purge, "erases the texts of old alerts", purge, every: "monthly")
        }
        self.files = files
        systemctl = Self.systemctl(isSystem: isSystem)
        folder = try Self.folder(isSystem: isSystem, in: context)
    }

    private static func systemctl(isSystem: Bool) -> [String] { isSystem ? [] : ["--user"] }

    private static func folder(isSystem: Bool, in context: Context) throws -> String {
        isSystem ? "/etc/systemd/system" : try Systemd.userFolder(in: context)
    }

    private static func pair(
        _ name: String, _ what: String, _ words: [String], every time: String
    ) -> [File] {
        let command = words.map(Systemd.quoted).joined(separator: " ")
        let service = """
            \(mark)
            [Unit]
            Description=alertq: \(what)
            # What is old, and the name of a backup, depend on the clock.
            Wants=time-sync.target
            After=time-sync.target

            [Service]
            Type=oneshot
            ExecStart=\(command)

            """
        let timer = """
            \(mark)
            [Unit]
            Description=alertq: \(what), \(time)

            [Timer]
            OnCalendar=\(time)
            # Not at the same second as everything else, and later if the machine was off.
            RandomizedDelaySec=30min
            Persistent=true

            [Install]
            WantedBy=timers.target

            """
        return [
            File(name: name + ".service", text: service),
            File(name: name + ".timer", text: timer),
        ]
    }

    /// Checks that an existing unit is for the same queue: otherwise the backups of the other queue
    /// would stop silently.
    private func checkQueue(of file: File) throws {
        let path = folder + "/" + file.name
        guard let old = Self.queue(of: LinuxFile.text(path)), old != Self.queue(of: file.text)
        else { return }
        throw Self.isForAnother(
            path, old, "remove it first, or write units of another name yourself")
    }

    private static func isForAnother(
        _ path: String, _ queue: String, _ advice: String
    ) -> CommandError {
        let name = queue.isEmpty ? "the user's own" : queue
        return CommandError(.inputOutput, "\(path) is for another queue (\(name)); \(advice)")
    }

    /// The words of a unit's command that name its queue.
    private static func queue(of text: String?) -> String? {
        guard
            let command = text?.split(separator: "\n").first(where: { $0.hasPrefix("ExecStart=") })
        else { return nil }
        let starts = ["\"--database\"", "\"--system\""].compactMap {
            command.firstRange(of: $0)?.lowerBound
        }
        return starts.min().map { String(command[$0...]) } ?? ""
    }

    private var timers: [String] { files.map(\.name).filter { $0.hasSuffix(".timer") } }

    /// The command that has systemd start the timers.
    private var commands: String {
        let systemctl = (["systemctl"] + systemctl).joined(separator: " ")
        return "\(systemctl) daemon-reload && \(systemctl) enable --now "
            + timers.joined(separator: " ")
    }

    /// The files as a person reads them, and how to use them.
    var text: String {
        files.map { "# \(folder)/\($0.name)\n\($0.text)\n" }.joined()
            + "# Then run: \(commands)\n"
    }

    /// Writes the units, and has systemd start the timers now and at each start.
    func install() async throws -> [Finding] {
        for file in files { try checkQueue(of: file) }
        var findings: [Finding] = []
        for file in files {
            let path = folder + "/" + file.name
            try Systemd.write(file.text, to: path)
            findings.append(Finding(check: "timers", detail: "installed \(path)"))
        }
        let purge = Self.purge + ".timer"
        if !timers.contains(purge), access(folder + "/" + purge, F_OK) == 0 {
            let disable = (["systemctl"] + systemctl + ["disable", "--now", purge])
            findings.append(
                Finding(
                    check: "timers", detail: "\(purge) is still installed, and erases texts",
                    advice: "to stop it: \(disable.joined(separator: " "))", isNote: true))
        }
        let steps = [["daemon-reload"], ["enable", "--now"] + timers]
        for step in steps where await !Systemd.run(systemctl + ["--quiet"] + step) {
            findings.append(
                Finding(
                    check: "timers",
                    problem: "the units are written, but systemd can't be reached now, so nothing "
                        + "starts them",
                    advice: "run: \(commands)", code: .inputOutput))
            return findings
        }
        return findings
    }

    /// Stops the timers, and removes what installing created; the backups stay.
    static func uninstall(of queue: QueueChoice, in context: Context) async throws -> [Finding] {
        let check = "timers"
        let folder = try folder(isSystem: queue == .system, in: context)
        let systemctl = systemctl(isSystem: queue == .system)
        let names = [backup, purge].flatMap { [$0 + ".timer", $0 + ".service"] }
            .filter { access(folder + "/" + $0, F_OK) == 0 }
        guard !names.isEmpty else {
            return [Finding(check: check, detail: "nothing is installed in \(folder)")]
        }
        for name in names {
            let path = folder + "/" + name
            guard let text = LinuxFile.text(path), text.hasPrefix(mark) else {
                throw CommandError(
                    .inputOutput,
                    "\(path) was not made by alertq doctor --timers: remove it yourself")
            }
            let own = queue.words.map(Systemd.quoted).joined(separator: " ")
            if let other = Self.queue(of: text), other != own {
                throw isForAnother(path, other, "to remove it, name that queue")
            }
        }
        let timers = names.filter { $0.hasSuffix(".timer") }
        let isStopped = await Systemd.run(systemctl + ["--quiet", "disable", "--now"] + timers)
        let links = folder + "/timers.target.wants"
        var findings: [Finding] = []
        for name in names {
            // systemd may not have been there to remove its link.
            for path in ["\(links)/\(name)", "\(folder)/\(name)"] {
                guard unlink(path) == 0 || errno == ENOENT else {
                    throw Systemd.failure("remove", path)
                }
            }
            findings.append(Finding(check: check, detail: "removed \(folder)/\(name)"))
        }
        // It stays only if it holds other units.
        rmdir(links)
        let isReloaded = await Systemd.run(systemctl + ["--quiet", "daemon-reload"])
        if !isStopped || !isReloaded {
            let stop = (["systemctl"] + systemctl + ["stop"] + timers).joined(separator: " ")
            findings.append(
                Finding(
                    check: check, detail: "systemd can't be reached now",
                    advice: "if the timers still run, stop them: \(stop)", isNote: true))
        }
        return findings
    }
}
