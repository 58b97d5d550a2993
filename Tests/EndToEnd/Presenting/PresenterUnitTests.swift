import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Presenting from login on", .inParallel)
struct PresenterUnitTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private var folder: String { queue.unitDirectory }
    private var unit: String { folder + "/alertq-present.service" }

    private func present(
        _ options: [String], systemctl: String = "exit 0"
    ) async throws -> Finished {
        try await queue.run(["present"] + options, systemctl: systemctl)
    }

    private func files() -> [String] {
        (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    }

    @Test("--install writes a unit and has systemd start it; --uninstall leaves nothing")
    func install() async throws {
        let show = try queue.script("show $me%n", "exit 0")
        let installed = try await present(["--install", "--on", "command:\(show)"])
        #expect(installed.code == 0 && installed.errors.contains("it runs now"))
        let text = try String(contentsOfFile: unit, encoding: .utf8)
        let command =
            "ExecStart=\"\(CommandLineQueue.program)\" \"present\" \"--on\" "
            + "\"command:\(queue.directory)/show $$me%%n\" \"--database\" \"\(queue.path)\"\n"
        #expect(text.contains(command), "\(text)")
        #expect(
            queue.lines("calls") == [
                "--user --quiet daemon-reload", "--user --quiet enable alertq-present.service",
                "--user --quiet restart alertq-present.service",
            ])
        // As systemctl would have enabled it.
        let wants = folder + "/graphical-session.target.wants"
        try FileManager.default.createDirectory(
            atPath: wants, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: wants + "/alertq-present.service", withDestinationPath: unit)
        let removed = try await present(["--uninstall"])
        #expect(removed.code == 0 && removed.errors.contains("removed \(unit)"))
        #expect(files() == [])
        #expect(queue.lines("calls").dropFirst(3).first?.contains("disable --now") == true)
        let again = try await present(["--uninstall"])
        #expect(again.code == 0 && again.errors.contains("nothing is installed"))
    }

    @Test("Where systemd can't be reached, it says what to run, and can still be undone")
    func unreachable() async throws {
        let show = try queue.script("show", "exit 0")
        let installed = try await present(
            ["--install", "--on", "command:\(show)"], systemctl: "exit 1")
        #expect(
            installed.code == 0
                && installed.errors.contains(
                    "systemctl --user daemon-reload && systemctl --user enable --now")
        )
        let removed = try await present(["--uninstall"], systemctl: "exit 1")
        #expect(removed.code == 0 && removed.errors.contains("systemctl --user stop"))
        #expect(files() == [])
    }

    @Test(
        "What makes no sense from login on is refused, and nothing is written",
        arguments: [
            (["--install", "--on", "terminal"], 64, "a terminal is not there"),
            (["--install", "--uninstall"], 64, "opposites"),
            (["--install", "--once"], 64, "--once"),
            (["--install", "--on", "command:/nowhere"], 66, "“/nowhere”"),
        ])
    func refused(options: [String], code: Int32, reason: String) async throws {
        let result = try await present(options)
        #expect(result.code == code && result.errors.contains(reason), "\(result)")
        #expect(files() == [] && queue.lines("calls") == [])
    }

    @Test("doctor says of each presenter whether it works here, and why not")
    func doctor() async throws {
        #expect(try await queue.run("notify", "Done").code == 0)
        let doctor = try queue.start(
            ["doctor", "--json"],
            environment: [
                "DISPLAY": "", "WAYLAND_DISPLAY": "", "DBUS_SESSION_BUS_ADDRESS": "",
                "XDG_RUNTIME_DIR": "/nowhere",
            ])
        let result = await doctor.finish()
        #expect(result.code == 0)
        let lines = result.output.split(separator: "\n").filter { $0.contains(#""presenters""#) }
        #expect(lines.count == 3)
        #expect(
            lines.first?.contains("terminal does not work here: can't open the terminal") == true)
        #expect(lines.last?.contains("dialog does not work here: there is no desktop") == true)
        let terminal = try PseudoTerminal()
        let doctor2 = try queue.start(["doctor"], on: terminal)
        #expect(await doctor2.exit() == 0)
        #expect(await doctor2.output.complete().contains("terminal works here: alertq present"))
    }
}
