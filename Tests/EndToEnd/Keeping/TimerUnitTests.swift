import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Backups by timer", .inParallel)
struct TimerUnitTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private var folder: String { queue.unitDirectory }

    private func doctor(
        _ options: [String], systemctl: String = "exit 0"
    ) async throws -> Finished {
        try await queue.run(["doctor"] + options, systemctl: systemctl)
    }

    @Test("--timers prints the units, writes nothing, and its command makes a backup")
    func print() async throws {
        let backups = queue.directory + "/back ups"
        try FileManager.default.createDirectory(
            atPath: backups, withIntermediateDirectories: true)
        let printed = try await doctor(["--timers", backups, "--keep", "7"])
        #expect(printed.code == 0, "\(printed)")
        #expect(printed.output.contains("# \(folder)/alertq-backup.timer\n"))
        #expect(printed.output.contains("OnCalendar=daily\n"))
        #expect(!printed.output.contains("purge"))
        #expect(printed.output.contains("Wants=time-sync.target\nAfter=time-sync.target\n"))
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(queue.lines("calls") == [])
        let start = try #require(
            printed.output.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        // Nothing here needs quotes other than the shell's.
        let command = start.dropFirst("ExecStart=".count)
        #expect(command.hasSuffix("\"--keep\" \"7\" \"--database\" \"\(queue.path)\""))
        #expect(try await queue.run("notify", "One").code == 0)
        #expect(await (try Child("sh", ["-c", String(command)])).exit() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: backups).count == 1)
    }

    @Test(
        "What root installs for another account is in folders of that account",
        .enabled(if: geteuid() == 0))
    func otherAccount() async throws {
        #expect(chown(queue.directory, 65_534, 65_534) == 0)
        let installed = try await doctor(["--timers", queue.directory, "--install"])
        #expect(installed.code == 0, "\(installed)")
        var folder = folder
        while folder != queue.directory {
            var status = stat()
            #expect(stat(folder, &status) == 0 && status.st_uid == 65_534, "\(folder)")
            folder = (folder as NSString).deletingLastPathComponent
        }
    }

    @Test("--install writes what --timers prints, and has systemd start it")
    func install() async throws {
        let options = ["--timers", queue.directory, "--purge-after", "180d"]
        let printed = try await doctor(options).output
        let installed = try await doctor(options + ["--install"])
        #expect(installed.code == 0, "\(installed)")
        for name in ["backup.service", "backup.timer", "purge.service", "purge.timer"] {
            let path = "\(folder)/alertq-\(name)"
            #expect(installed.output.contains("installed \(path)"))
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(printed.contains("# \(path)\n\(text)"), "\(text)")
        }
        #expect(
            queue.lines("calls") == [
                "--user --quiet daemon-reload",
                "--user --quiet enable --now alertq-backup.timer alertq-purge.timer",
            ])
        let unreachable = try await doctor(options + ["--install"], systemctl: "exit 1")
        let reason = "problem  timers: the units are written, but systemd can't be reached now"
        #expect(unreachable.code == 74 && unreachable.output.contains(reason), "\(unreachable)")
        #expect(unreachable.output.contains("installed \(folder)/alertq-backup.timer"))
        #expect(unreachable.output.contains("run: systemctl --user daemon-reload && "))
    }

    @Test("Units of another queue stay, and a purge timer that stays is reported")
    func others() async throws {
        let install = ["--timers", queue.directory, "--install"]
        #expect(try await doctor(install + ["--purge-after", "180d"]).code == 0)
        let other = try await doctor(install + ["--database", queue.directory + "/other.db"])
        #expect(other.code == 74 && other.errors.contains("is for another queue"), "\(other)")
        let service = folder + "/alertq-backup.service"
        let text = try String(contentsOfFile: service, encoding: .utf8)
        #expect(text.contains("\"\(queue.path)\""))
        let again = try await doctor(install)
        #expect(again.output.contains("alertq-purge.timer is still installed"), "\(again)")
        let nowhere = try await doctor(["--timers", queue.directory + "/none", "--install"])
        #expect(nowhere.code == 66 && nowhere.errors.contains("mkdir -p"), "\(nowhere)")
    }

    @Test("--timers --uninstall stops and removes the units, but only those of this queue")
    func uninstall() async throws {
        let options = ["--timers", queue.directory, "--purge-after", "180d", "--install"]
        #expect(try await doctor(options).code == 0)
        let links = folder + "/timers.target.wants"
        try FileManager.default.createDirectory(
            atPath: links, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: links + "/alertq-backup.timer",
            withDestinationPath: "../alertq-backup.timer")
        let uninstall = ["--timers", "--uninstall"]
        let other = try await doctor(uninstall + ["--database", queue.directory + "/other.db"])
        #expect(other.code == 74 && other.errors.contains("is for another queue"), "\(other)")
        let own = try await doctor(uninstall)
        #expect(own.code == 0 && own.output.contains("removed \(folder)/alertq-purge.timer\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        #expect(
            queue.lines("calls").suffix(2) == [
                "--user --quiet disable --now alertq-backup.timer alertq-purge.timer",
                "--user --quiet daemon-reload",
            ])
        let again = try await doctor(uninstall)
        #expect(again.code == 0 && again.output.contains("nothing is installed"), "\(again)")
        try "[Unit]\n".write(
            toFile: folder + "/alertq-backup.timer", atomically: true, encoding: .utf8)
        let foreign = try await doctor(uninstall)
        #expect(foreign.code == 74 && foreign.errors.contains("was not made by"), "\(foreign)")
    }

    @Test("With --system the units are the system's; the options of --timers require --timers")
    func system() async throws {
        let printed = try await doctor(["--timers", "/backups", "--system"])
        #expect(printed.output.contains("# /etc/systemd/system/alertq-backup.timer\n"))
        #expect(printed.output.contains("# Then run: systemctl daemon-reload && "))
        for words in [
            ["--install"], ["--keep", "3"], ["--timers", "/b", "--reindex"],
            ["--timers", "/b", "--uninstall"], ["--uninstall", "--keep", "3"], ["--timers", ""],
            ["--timers="], ["--timers"], ["--timers", "--install"], ["--timers", "--keep", "3"],
        ] {
            #expect(try await doctor(words).code == 64, "\(words)")
        }
        let equals = try await doctor(["--timers=/backups", "--system"])
        #expect(equals.output == printed.output)
    }
}
