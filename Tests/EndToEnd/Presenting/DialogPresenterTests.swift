import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite(
    "Dialog windows", .inParallel,
    .enabled(if: DesktopSession.has("zenity", "kdialog"), "needs Xvfb, zenity and kdialog"))
struct DialogPresenterTests {
    let queue: CommandLineQueue
    let desktop: DesktopSession

    init() async throws {
        queue = try CommandLineQueue()
        desktop = try await DesktopSession()
    }

    /// Starts a presenter that finds only one dialog program, or a script instead of it.
    private func present(
        with program: String = "zenity", script: String? = nil, _ variables: [String: String] = [:]
    ) throws -> Child {
        let folder = queue.directory + "/bin"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        if let script {
            try FileManager.default.moveItem(
                atPath: queue.script("program", script), toPath: folder + "/" + program)
        } else {
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/" + program, withDestinationPath: "/usr/bin/" + program)
        }
        let environment = desktop.environment.merging(["PATH": folder]) { $1 }
            .merging(variables) { $1 }
        return try queue.start(["present", "--on", "dialog"], environment: environment)
    }

    private func ask() async throws {
        let asked = try await queue.run(
            "ask", "Prune?", "--destructive", "yes=Prune_now", "--cancel", "no=Keep", "--detach")
        #expect(asked.code == 0)
    }

    private func story() async throws -> [String: any Sendable] {
        try #require(try await queue.objects("show", "1").first)
    }

    private func isShown() async throws -> Bool {
        try await eventually { try await desktop.windows(named: "alertq").count == 1 }
    }

    @Test(
        "Keys choose in a real window; no destructive button comes first; closing snoozes",
        arguments: [
            ("zenity", ["Return"], nil), ("zenity", ["Tab", "Return"], "yes"),
            ("zenity", ["Tab", "Tab", "Return"], "no"), ("zenity", ["Escape"], nil),
            ("zenity", ["alt+F4"], nil), ("kdialog", ["Return"], nil),
            ("kdialog", ["Down", "Return"], "yes"), ("kdialog", ["Escape"], nil),
        ])
    func keys(program: String, keys: [String], button: String?) async throws {
        try await ask()
        let presenter = try present(with: program)
        #expect(try await isShown())
        // A choice before anybody could have read the alert does not count.
        try await Task.sleep(for: .milliseconds(1600))
        for key in keys { try await desktop.xdotool("key", key) }
        if let button {
            #expect(try await eventually { try await story()["button"] as? String == button })
            let responder = try await story()["responder"] as? [String: any Sendable]
            #expect(responder?["via"] as? String == "dialog")
        } else {
            #expect(try await eventually { try await story()["snoozes"] as? Int == 1 })
            #expect(try await story()["outcome"] is NSNull)
        }
        #expect(try await desktop.windows(named: "alertq") == [])
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
    }

    @Test(
        "A window appears in any locale, with a dead Wayland display, and without a new option",
        arguments: [
            (["LC_ALL": "C"], nil), (["LC_ALL": "de_DE.ISO-8859-1"], nil),
            (["WAYLAND_DISPLAY": "/nowhere"], nil),
            (["WAYLAND_DISPLAY": "/nowhere", "GDK_BACKEND": "wayland"], nil),
            (["ZENITY_EXTRA": "3"], nil), (["DIALOG_EXTRA": "3", "DIALOG_ESC": "255"], nil),
            (
                [:],
                """
                case "$*" in *--modal*) echo "This option is not available." >&2; exit 255;; esac
                exec /usr/bin/zenity "$@"
                """
            ),
        ] as [([String: String], String?)])
    func surroundings(variables: [String: String], script: String?) async throws {
        let asked = try await queue.run(
            "ask", "Löschen – “日本”?", "-b", "ja=Ja, löschen", "--cancel", "no=Nein", "--detach")
        #expect(asked.code == 0)
        let presenter = try present(script: script, variables)
        #expect(try await isShown())
        // A key that comes before anybody could have read the alert does not count.
        #expect(
            try await eventually(each: .seconds(1)) {
                if try await desktop.windows(named: "alertq").count == 1 {
                    try await Task.sleep(for: .milliseconds(1600))
                    try await desktop.xdotool("key", "Return")
                }
                return try await story()["button"] as? String == "ja"
            })
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
    }

    /// Waits for the window of another process, and until somebody could have read it.
    private func nextWindow(after last: inout String) async throws -> Bool {
        let before = last
        var next = before
        let isNew = try await eventually {
            // The X server gives the next program the same ids of windows.
            let found = try await desktop.xdotool(
                "search", "--onlyvisible", "--name", "alertq", "getwindowpid")
            next = found.isEmpty ? before : found
            return next != before
        }
        last = next
        try await Task.sleep(for: .milliseconds(1600))
        return isNew
    }

    @Test(
        "Values are entered in real windows, again if they don't fit, and are there after “Back”",
        arguments: ["zenity", "kdialog"])
    func values(program: String) async throws {
        let schema = """
            {"type":"object","properties":{"host":{"type":"string","default":"nas"},
            "copies":{"type":"integer"}},"required":["copies"]}
            """
        let asked = try await queue.run("ask", "Save?", "-b", "yes", "--schema", schema, "--detach")
        #expect(asked.code == 0)
        let presenter = try present(with: program)
        var window = ""
        func type(_ keys: String..., text: String? = nil) async throws {
            try #require(try await nextWindow(after: &window))
            if let text { _ = try await desktop.xdotool("type", text) }
            for key in keys { _ = try await desktop.xdotool("key", key) }
        }
        try await type("Return")
        try await type("Return", text: "disk1")
        try await type("Return", text: "x")
        // What was entered is selected, and replaced.
        try await type("ctrl+a", "2", "Escape")
        try await type("Return")
        try await type("End", "0", "Return")
        try await type("ctrl+a", "2", "Return")
        #expect(try await eventually { try await story()["button"] as? String == "yes" })
        let values = try await story()["values"] as? [String: any Sendable]
        #expect(values?["host"] as? String == "disk10" && values?["copies"] as? Int == 2)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
    }

    @Test("A dialog program that fails late has snoozed nothing")
    func failsLate() async throws {
        try await ask()
        let presenter = try present(script: "PATH=/usr/bin:/bin; sleep 1; exit 255")
        let tells = "dialog failed with exit code 255; alert 1 still waits"
        #expect(await eventually { presenter.errors.text.contains(tells) })
        #expect(try await story()["snoozes"] as? Int == 0)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
    }

    @Test("A window closes when its alert is resolved elsewhere, and the next alert gets one")
    func elsewhere() async throws {
        try await ask()
        let presenter = try present()
        #expect(try await isShown())
        #expect(try await queue.run("answer", "1", "no").code == 0)
        #expect(try await eventually { try await desktop.windows(named: "alertq") == [] })
        #expect(try await queue.run("notify", "Done", "--dismiss-after", "10s").code == 0)
        #expect(try await isShown())
        #expect(try await eventually { try await desktop.windows(named: "alertq") == [] })
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await !presenter.errors.complete().contains("next try"))
    }

    @Test("A presenter that is ended leaves no window", arguments: [SIGTERM, SIGKILL])
    func ended(signal: Int32) async throws {
        try await ask()
        let presenter = try present()
        #expect(try await isShown())
        presenter.kill(signal)
        #expect(await presenter.exit() == 128 + signal)
        #expect(await queue.isDeserted())
        #expect(try await desktop.windows(named: "alertq") == [])
        #expect(try await story()["snoozes"] as? Int == 0)
    }

    @Test("If the window's program or the whole desktop is killed, nothing is chosen")
    func crash() async throws {
        try await ask()
        let presenter = try present()
        #expect(try await isShown())
        let first = try #require(await program(of: presenter))
        kill(first, SIGKILL)
        #expect(
            await eventually {
                let now = await program(of: presenter)
                return now != nil && now != first
            })
        #expect(try await isShown())
        try await Task.sleep(for: .milliseconds(1600))
        desktop.crash()
        #expect(await eventually { presenter.errors.text.contains("lost its screen") })
        let alert = try await story()
        #expect(alert["snoozes"] as? Int == 0 && alert["outcome"] is NSNull)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
    }

    /// The running zenity.
    private func program(of presenter: Child) async -> pid_t? {
        let child = try? Child("pgrep", ["-P", "\(presenter.pid)", "zenity"])
        return pid_t(await child?.finish().output.split(separator: "\n").first ?? "")
    }

    @Test("Without a desktop, or without a program, the command says what is missing")
    func missing() async throws {
        let blind = try await queue.start(
            ["present", "--on", "dialog"], environment: ["DISPLAY": "", "WAYLAND_DISPLAY": ""]
        ).finish()
        #expect(blind.code == 66 && blind.errors.contains("neither $WAYLAND_DISPLAY nor $DISPLAY"))
        let deaf = try await queue.start(
            ["present", "--on", "dialog"],
            environment: ["DISPLAY": ":12345", "WAYLAND_DISPLAY": ""]
        ).finish()
        #expect(deaf.code == 66 && deaf.errors.contains("does not answer at the display :12345"))
        let bare = try await queue.start(
            ["present", "--on", "dialog"],
            environment: desktop.environment.merging(["PATH": "/nowhere"]) { $1 }
        ).finish()
        #expect(bare.code == 66 && bare.errors.contains("apt-get install zenity"))
    }
}
