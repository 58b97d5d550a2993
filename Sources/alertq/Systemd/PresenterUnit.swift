import Glibc
import Linux

/// The systemd user unit that shows alerts at each login; see systemd.unit(5).
struct PresenterUnit: Sendable {
    static let name = "alertq-present.service"
    /// Started with a desktop, stopped with it; see systemd.special(7).
    private static let target = "graphical-session.target"

    /// The folder of the user's own units.
    private let folder: String
    var path: String { folder + "/" + Self.name }

    /// - Throws: ``CommandError`` where the user has no folder for it.
    init(in context: Context) throws { folder = try Systemd.userFolder(in: context) }

    /// The text of the unit's file.
    ///
    /// - Parameter words: The command line that it runs, the program's path first.
    static func text(_ words: [String]) -> String {
        """
        # Made by: alertq present --install. To remove it: alertq present --uninstall
        [Unit]
        Description=alertq: shows questions that wait for an answer
        PartOf=\(target)
        After=\(target)
        # The desktop may need a while until it can show something.
        StartLimitIntervalSec=0

        [Service]
        ExecStart=\(words.map(Systemd.quoted).joined(separator: " "))
        Restart=on-failure
        RestartSec=5

        [Install]
        WantedBy=\(target)

        """
    }

    /// Writes the unit, and starts it now and with each desktop session.
    ///
    /// - Returns: What was done, and what is left to do, one per line.
    func install(_ words: [String]) async throws -> [String] {
        try Systemd.write(Self.text(words), to: path)
        var lines = ["installed \(path)"]
        let steps = [["daemon-reload"], ["enable", Self.name], ["restart", Self.name]]
        for step in steps where await !Systemd.run(["--user", "--quiet"] + step) {
            lines.append(
                "systemd can't be reached now; in a session of your desktop run: systemctl --user "
                    + "daemon-reload && systemctl --user enable --now \(Self.name)")
            return lines
        }
        lines.append("it runs now, and will start at each login")
        return lines
    }

    /// Stops the unit, and removes everything that installing it created.
    ///
    /// - Returns: What was done, one per line.
    func uninstall() async throws -> [String] {
        let link = "\(folder)/\(Self.target).wants/\(Self.name)"
        let wasThere = [path, link].contains { access($0, F_OK) == 0 || Self.isLink($0) }
        guard wasThere else { return ["nothing is installed at \(path)"] }
        let isStopped = await Systemd.run(["--user", "--quiet", "disable", "--now", Self.name])
        for file in [link, path] {
            guard unlink(file) == 0 || errno == ENOENT else {
                throw Systemd.failure("remove", file)
            }
        }
        // It stays only if it holds other units.
        rmdir("\(folder)/\(Self.target).wants")
        let isReloaded = await Systemd.run(["--user", "--quiet", "daemon-reload"])
        var lines = ["removed \(path)"]
        if !isStopped || !isReloaded {
            lines.append(
                "systemd can't be reached now; if it runs, stop it with: systemctl --user stop "
                    + Self.name)
        }
        return lines
    }

    private static func isLink(_ path: String) -> Bool { LinuxFile.link(path) != nil }
}
