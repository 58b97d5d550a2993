import AlertPresenters
import AlertQueue
import FoundationEssentials
import Glibc

/// The systemd user unit that shows alerts from login on; see systemd.unit(5).
package struct PresenterUnit: Sendable {
    package static let name = "alertq-present.service"
    /// Started with a desktop, stopped with it; see systemd.special(7).
    private static let target = "graphical-session.target"

    /// The folder of the user's own units.
    private let folder: String
    package var path: String { folder + "/" + Self.name }

    /// - Throws: ``CommandError`` where the user has no folder for it.
    package init(in context: Context) throws { folder = try Self.userFolder(in: context) }

    static func userFolder(in context: Context) throws -> String {
        let home = try context.variables("HOME").map { $0 + "/.config" }
        guard let configuration = try context.variables("XDG_CONFIG_HOME") ?? home,
            configuration.hasPrefix("/")
        else { throw CommandError(.notFound, "neither $XDG_CONFIG_HOME nor $HOME names a folder") }
        return configuration + "/systemd/user"
    }

    /// What the unit's file says.
    ///
    /// - Parameter words: The command line that it runs, the program's path first.
    package static func text(_ words: [String]) -> String {
        """
        # Made by: alertq present --install. To remove it: alertq present --uninstall
        [Unit]
        Description=alertq: shows questions that wait for an answer
        PartOf=\(target)
        After=\(target)
        # The desktop may need a while until it can show something.
        StartLimitIntervalSec=0

        [Service]
        ExecStart=\(words.map(quoted).joined(separator: " "))
        Restart=on-failure
        RestartSec=5

        [Install]
        WantedBy=\(target)

        """
    }

    /// Writes the unit, and has it started now and with each desktop session.
    ///
    /// - Returns: What was done, and what is left to do, a line each.
    package func install(_ words: [String]) async throws -> [String] {
        let text = Self.text(words)
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw CommandError(.inputOutput, "can't create \(folder): \(Self.reason(error))")
        }
        try Self.write(text, to: path)
        var lines = ["installed \(path)"]
        let steps = [["daemon-reload"], ["enable", Self.name], ["restart", Self.name]]
        for step in steps where await !Self.systemctl(["--user", "--quiet"] + step) {
            lines.append(
                "systemd can't be told now; in a session of your desktop run: systemctl --user "
                    + "daemon-reload && systemctl --user enable --now \(Self.name)")
            return lines
        }
        lines.append("it runs now, and will from login on")
        return lines
    }

    /// Writes the file whole or not at all; see rename(2).
    static func write(_ text: String, to path: String) throws {
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure("write", draft) }
        defer { close(descriptor) }
        try Output.write(Array(text.utf8), to: descriptor)
        guard rename(draft, path) == 0 else { throw failure("write", path) }
    }

    private static func failure(_ action: String, _ path: String) -> CommandError {
        CommandError(
            .inputOutput, "can't \(action) \(path): \(String(cString: strerror(errno)))")
    }

    /// Stops the unit, and removes all that installing it has made.
    ///
    /// - Returns: What was done, a line each.
    package func uninstall() async throws -> [String] {
        let link = "\(folder)/\(Self.target).wants/\(Self.name)"
        let wasThere = [path, link].contains { access($0, F_OK) == 0 || Self.isLink($0) }
        guard wasThere else { return ["nothing is installed at \(path)"] }
        let isStopped = await Self.systemctl(["--user", "--quiet", "disable", "--now", Self.name])
        for file in [link, path] {
            guard unlink(file) == 0 || errno == ENOENT else {
                throw Self.failure("remove", file)
            }
        }
        // Left behind only if it holds other units.
        rmdir("\(folder)/\(Self.target).wants")
        let isReloaded = await Self.systemctl(["--user", "--quiet", "daemon-reload"])
        var lines = ["removed \(path)"]
        if !isStopped || !isReloaded {
            lines.append(
                "systemd can't be told now; if it runs, stop it with: systemctl --user stop "
                    + Self.name)
        }
        return lines
    }

    private static func isLink(_ path: String) -> Bool { LinuxFile.link(path) != nil }

    static func systemctl(_ words: [String]) async -> Bool {
        await HelperProgram.exitCode(of: ["systemctl"] + words, within: .seconds(20)) == 0
    }

    private static func reason(_ error: any Error) -> String {
        (error as? CocoaError).flatMap { $0.underlying as? POSIXError }
            .map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
    }

    /// A word as ExecStart= reads it: in quotes, without specifiers or variables; see
    /// systemd.service(5), "Command lines".
    static func quoted(_ word: String) -> String {
        let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("%", with: "%%").replacing("$", with: "$$").replacing("\n", with: "\\n")
        return "\"\(text)\""
    }
}
