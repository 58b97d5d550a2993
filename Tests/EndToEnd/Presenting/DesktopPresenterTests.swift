import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite(
    "Desktop notifications", .inParallel,
    .enabled(
        if: DesktopSession.has("dunst", DesktopSession.mate),
        "needs Xvfb, dunst and mate-notification-daemon"))
struct DesktopPresenterTests {
    private static let service = "org.freedesktop.Notifications"

    let queue: CommandLineQueue
    let desktop: DesktopSession

    init() async throws {
        queue = try CommandLineQueue()
        desktop = try await DesktopSession()
    }

    /// Starts dunst, whose menu of actions is answered by a script.
    private func dunst() async throws -> Child {
        let menu = try queue.script(
            "menu", "grep -m 1 \"^#$(cat \(queue.directory)/action) \"")
        let configuration = queue.directory + "/dunstrc"
        try "[global]\ndmenu = \(menu)\n"
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        let server = try desktop.start("dunst", "-conf", configuration)
        #expect(await desktop.offers(Self.service))
        return server
    }

    private func shown() async throws -> Int {
        let count = try desktop.start("dunstctl", "count", "displayed")
        return Int(await count.finish().output.dropLast()) ?? -1
    }

    private func isShown(_ count: Int = 1) async throws -> Bool {
        try await eventually { try await shown() == count }
    }

    /// Takes as long as a person does: what is done at once does not count.
    private func read() async throws { try await Task.sleep(for: .milliseconds(900)) }

    private func present() throws -> Child {
        try queue.start(["present", "--on", "desktop"], environment: desktop.environment)
    }

    private func ask(_ options: String...) async throws {
        let words = ["ask", "Prune?", "--destructive", "yes=Prune", "--cancel", "no=Keep"]
        #expect(try await queue.start(words + ["--detach"] + options).finish().code == 0)
    }

    private func story(_ id: Int = 1) async throws -> [String: any Sendable] {
        try #require(try await queue.objects("show", "\(id)").first)
    }

    private func choose(_ label: String) async throws {
        try await read()
        try label.write(
            toFile: queue.directory + "/action", atomically: true, encoding: .utf8)
        _ = try await desktop.start("dunstctl", "context").finish()
    }

    @Test("Actions choose in dunst, for two alerts in a row, and “Later” snoozes")
    func actions() async throws {
        let server = try await dunst()
        let presenter = try present()
        try await ask()
        try await ask("--timeout", "1h", "--default", "no")
        #expect(try await isShown())
        try await choose("Prune")
        #expect(try await eventually { try await story()["button"] as? String == "yes" })
        let responder = try await story()["responder"] as? [String: any Sendable]
        #expect(responder?["via"] as? String == "desktop")
        #expect(try await eventually { try await story(2)["state"] as? String == "presented" })
        #expect(try await isShown())
        try await choose("Later")
        #expect(try await eventually { try await story(2)["snoozes"] as? Int == 1 })
        #expect(try await isShown(0))
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
        server.kill(SIGTERM)
    }

    @Test("A person who closes a notification has not answered")
    func closed() async throws {
        let server = try await dunst()
        let presenter = try present()
        try await ask()
        #expect(try await isShown())
        try await read()
        _ = try await desktop.start("dunstctl", "close").finish()
        #expect(try await eventually { try await story()["snoozes"] as? Int == 1 })
        #expect(try await story()["outcome"] is NSNull)
        // A notice offers nothing else.
        #expect(
            try await queue.run("notify", "Done", "--dismiss-after", "1h").code == 0)
        #expect(try await isShown())
        try await read()
        _ = try await desktop.start("dunstctl", "close").finish()
        #expect(try await eventually { try await story(2)["by"] as? String == "person" })
        #expect(try await story(2)["outcome"] as? String == "dismissed")
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        server.kill(SIGTERM)
    }

    /// A server without buttons where every notification times out after half a second.
    private static let impatient = """
        import dbus, dbus.service
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib
        DBusGMainLoop(set_as_default=True)
        NAME = "org.freedesktop.Notifications"
        bus = dbus.SessionBus()
        class Server(dbus.service.Object):
            count = 0
            @dbus.service.method(NAME, in_signature="", out_signature="as")
            def GetCapabilities(self):
                return ["body", "body-markup"]
            @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
            def Notify(self, app, old, icon, title, body, actions, hints, expire):
                self.count += 1
                print(title, body, len(actions), expire, sep="|", flush=True)
                GLib.timeout_add(500, self.NotificationClosed, self.count, 1)
                return self.count
            @dbus.service.method(NAME, in_signature="u", out_signature="")
            def CloseNotification(self, id):
                self.NotificationClosed(id, 3)
            @dbus.service.signal(NAME, signature="uu")
            def NotificationClosed(self, id, reason):
                pass
        owner = dbus.service.BusName(NAME, bus)
        server = Server(bus, "/org/freedesktop/Notifications")
        GLib.MainLoop().run()
        """

    @Test(
        "Notifications that time out are shown again after pauses, with the command to answer"
    )
    func expired() async throws {
        let server = try desktop.start("/usr/bin/python3", "-c", Self.impatient)
        #expect(await desktop.offers(Self.service))
        let presenter = try present()
        try await ask("-m", "<i>")
        // However often: a server's habit is no failure of the presenter.
        #expect(await eventually { presenter.errors.text.contains("next try in 8 s") })
        #expect(presenter.errors.text.contains("let it time out; alert 1 still waits"))
        let shown = server.output.text.components(separatedBy: "Prune?|").dropFirst()
        #expect(shown.count == 4 && shown.allSatisfy { $0.hasSuffix("|0|0\n") })
        let command = "alertq answer 1 yes --database \(queue.path)"
        #expect(shown.first?.contains(command) == true)
        #expect(shown.first?.hasPrefix("&lt;i&gt;") == true)
        #expect(try await story()["snoozes"] as? Int == 0)
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        server.kill(SIGTERM)
    }

    /// A server in whose notifications “x” is entered, then “7”.
    private static let replying =
        impatient
        .replacing("\"body-markup\"]", with: "\"actions\", \"inline-reply\"]")
        .replacing("timeout_add(500", with: "timeout_add(1000")
        .replacing("len(actions)", with: "\",\".join(actions)")
        .replacing(
            "self.NotificationClosed, self.count, 1",
            with: "self.NotificationReplied, self.count, \"7\" if \"⚠\" in body else \"x\""
        )
        .replacing(
            "    @dbus.service.signal(NAME, signature=\"uu\")",
            with: """
                    @dbus.service.signal(NAME, signature="us")
                    def NotificationReplied(self, id, text):
                        pass
                    @dbus.service.signal(NAME, signature="uu")
                """)

    @Test("A text that is entered in a notification answers, once it fits")
    func replied() async throws {
        let server = try desktop.start("/usr/bin/python3", "-c", Self.replying)
        #expect(await desktop.offers(Self.service))
        let presenter = try present()
        let schema = """
            {"type":"object","properties":{"copies":{"type":"integer"}},"required":["copies"]}
            """
        try await ask("--schema", schema)
        #expect(try await eventually { try await story()["button"] as? String == "yes" })
        let values = try await story()["values"] as? [String: any Sendable]
        #expect(values?["copies"] as? Int == 7)
        let shown = server.output.text.components(separatedBy: "Prune?|").dropFirst()
        #expect(shown.count == 2 && shown.first?.contains("inline-reply,Prune,1,Keep") == true)
        #expect(shown.last?.contains("It must be a whole number") == true)
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        server.kill(SIGTERM)
    }

    /// A server whose buttons are pressed as soon as they are there, and when they are there again
    /// after a while.
    private static let hasty =
        impatient
        .replacing("\"body-markup\"]", with: "\"actions\"]")
        .replacing(
            "500, self.NotificationClosed, self.count, 1",
            with: "1000 if \"⚠\" in body else 100, self.ActionInvoked, self.count, \"0\""
        )
        .replacing(
            "    @dbus.service.signal(NAME, signature=\"uu\")",
            with: """
                    @dbus.service.signal(NAME, signature="us")
                    def ActionInvoked(self, id, action):
                        pass
                    @dbus.service.signal(NAME, signature="uu")
                """)

    @Test("The second half of a double click does not answer the notification that comes next")
    func atOnce() async throws {
        let server = try desktop.start("/usr/bin/python3", "-c", Self.hasty)
        #expect(await desktop.offers(Self.service))
        let presenter = try present()
        try await ask()
        #expect(try await eventually { try await story()["button"] as? String == "yes" })
        let shown = server.output.text.components(separatedBy: "Prune?|").dropFirst()
        #expect(shown.count == 2 && shown.last?.contains("That came at once") == true)
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        server.kill(SIGTERM)
    }

    @Test("A notice that times out has been shown, and does not come again")
    func expiredNotice() async throws {
        let server = try desktop.start("/usr/bin/python3", "-c", Self.impatient)
        #expect(await desktop.offers(Self.service))
        let presenter = try present()
        #expect(try await queue.run("notify", "Done", "--dismiss-after", "4s").code == 0)
        #expect(try await eventually { try await story()["outcome"] as? String == "dismissed" })
        #expect(try await story()["by"] as? String == "system")
        let shown = server.output.text.components(separatedBy: "Done|").dropFirst()
        #expect(shown.count == 1)
        #expect(!presenter.errors.text.contains("time out"))
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        server.kill(SIGTERM)
    }

    @Test("A notification that another program closes is shown again")
    func closedByOthers() async throws {
        let server = try await dunst()
        let presenter = try present()
        try await ask()
        #expect(try await isShown())
        // dunst may begin with any id.
        for id in 1...3 {
            _ = try await desktop.start(
                "dbus-send", "--session", "--type=method_call",
                "--dest=\(Self.service)",
                "/org/freedesktop/Notifications", Self.service + ".CloseNotification",
                "uint32:\(id)"
            ).finish()
        }
        #expect(await eventually { presenter.errors.text.contains("somebody else closed") })
        #expect(try await isShown())
        #expect(try await story()["snoozes"] as? Int == 0)
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        server.kill(SIGTERM)
    }

    @Test("When the server is killed and another one starts, the alert is shown again")
    func restarted() async throws {
        let first = try await dunst()
        let presenter = try present()
        try await ask()
        #expect(try await isShown())
        first.kill(SIGKILL)
        #expect(await first.exit() != nil)
        let second = try await dunst()
        #expect(try await isShown())
        second.kill(SIGKILL)
        #expect(await second.exit() != nil)
        // A different server takes over.
        let third = try desktop.start(DesktopSession.mate)
        #expect(await desktop.offers(Self.service))
        #expect(
            try await eventually {
                try await !desktop.xdotool("search", "--onlyvisible", "--class", "mate")
                    .isEmpty
            })
        #expect(try await queue.run("answer", "1", "no").code == 0)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        third.kill(SIGTERM)
        #expect(try await queue.isSound())
    }

    @Test("The buttons of a different notification server choose, too")
    func mate() async throws {
        let server = try desktop.start(DesktopSession.mate)
        #expect(await desktop.offers(Self.service))
        let presenter = try present()
        try await ask("--button", "all=All & <b>more</b>")
        let hasAnswer = try await eventually {
            // The last button is in the corner.
            let window = try await desktop.xdotool(
                "search", "--onlyvisible", "--class", "mate")
            guard let id = window.split(separator: "\n").last.map(String.init) else {
                return false
            }
            let geometry = try await desktop.xdotool("getwindowgeometry", "--shell", id)
            let size = geometry.matches(of: /(?m)^(?:WIDTH|HEIGHT)=(\d+)$/)
                .compactMap { Int($0.1) }
            guard size.count == 2 else { return false }
            try await desktop.xdotool(
                "mousemove", "--window", id, "\(size[0] - 45)", "\(size[1] - 25)", "click",
                "1")
            try await read()
            return try await story()["outcome"] as? String == "answered"
        }
        #expect(hasAnswer)
        #expect(try await story()["button"] as? String == "all")
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        server.kill(SIGTERM)
    }

    @Test("A notification is closed when its alert is resolved elsewhere or its presenter ends")
    func leaves() async throws {
        let server = try await dunst()
        for (id, signal) in [(1, SIGTERM), (3, SIGKILL)] {
            let presenter = try present()
            try await ask()
            #expect(try await isShown())
            #expect(try await queue.run("answer", "\(id)", "no").code == 0)
            #expect(try await isShown(0))
            #expect(try await queue.run("notify", "A", "--dismiss-after", "1h").code == 0)
            #expect(try await isShown())
            presenter.kill(signal)
            #expect(await presenter.exit() == 128 + signal)
            #expect(try await isShown(0))
            #expect(await queue.isDeserted())
            let last = try #require(try await queue.objects("list").first?["id"] as? Int)
            #expect(try await queue.run("withdraw", "\(last)").code == 0)
        }
        server.kill(SIGTERM)
    }

    @Test("If the bus ends, that is reported and retried with pauses, and nothing is lost")
    func busLost() async throws {
        let server = try await dunst()
        let presenter = try present()
        try await ask()
        #expect(try await isShown())
        desktop.crashBus()
        #expect(await eventually { presenter.errors.text.contains("next try in 2 s") })
        #expect(presenter.errors.text.contains("message bus can't be reached"))
        #expect(presenter.errors.text.components(separatedBy: "next try").count <= 4)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
        #expect(try await story()["snoozes"] as? Int == 0)
        server.kill(SIGTERM)
    }

    @Test("Without a bus, or without a server, the command says what is missing")
    func missing() async throws {
        let without = try await present().finish()
        #expect(without.code == 66, "\(without)")
        #expect(without.errors.contains("nothing shows notifications"))
        let blind = try await queue.start(
            ["present", "--on", "desktop"],
            environment: ["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/nowhere"]
        ).finish()
        #expect(blind.code == 66 && blind.errors.contains("message bus can't be reached"))
    }
}
