import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite(
    "Clocks", .inParallel, .enabled(if: geteuid() == 0, "needs root"),
    .enabled(if: Tool.canFakeClocks, "needs the package faketime, and no sanitizer"))
struct ClockTests {
    let queue: CommandLineQueue

    init() throws {
        queue = try CommandLineQueue()
        Self.removeLeftovers()
    }

    /// Removes the shared memory that a killed faketime(1) left: another faketime whose process
    /// gets the same id would not start.
    private static func removeLeftovers() {
        let folder = "/dev/shm"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for file in files {
            guard let id = file.wholeMatch(of: /(?:sem\.faketime_sem|faketime_shm)_([0-9]+)/)?.1,
                !FileManager.default.fileExists(atPath: "/proc/\(id)")
            else { continue }
            try? FileManager.default.removeItem(atPath: "\(folder)/\(file)")
        }
    }

    /// A wall clock with an offset; boot time and monotonic time are unchanged.
    private func wall(_ offset: String) -> [String] { ["faketime", "-f", offset] }
    private let realBoot = ["FAKETIME_DONT_FAKE_MONOTONIC": "1"]
    /// A machine that has been up for days: libfaketime shifts timers as far as the wall clock, and
    /// before its start they would never fire.
    private let upForDays = [
        "unshare", "--time", "--boottime", "1000000", "--monotonic", "1000000",
    ]

    /// A boot with another id, whose clock is ahead by a number of seconds.
    private func boot(_ id: String, ahead seconds: Int) throws -> [String] {
        let file = queue.directory + "/boot_id_" + id
        try id.write(toFile: file, atomically: true, encoding: .utf8)
        let script = "mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\""
        let clock = seconds == 0 ? [] : ["--time", "--boottime", "\(seconds)"]
        return ["unshare", "--mount"] + clock + ["sh", "-c", script, file]
    }

    private func run(_ verb: [String], _ words: [String]) async throws -> Finished {
        try await queue.start(verb, under: words, environment: realBoot).finish()
    }

    private func alert(_ id: Int, _ words: [String]) async throws -> [String: any Sendable] {
        let shown = try await run(["show", "\(id)", "--json"], words)
        #expect(shown.code == 0, "\(shown)")
        let object = try JSONSerialization.jsonObject(with: Data(shown.output.utf8))
        return object as? [String: any Sendable] ?? [:]
    }

    private func ask(_ title: String, _ options: [String], _ words: [String]) async throws {
        let buttons = ["-b", "yes", "--cancel", "no", "--detach"]
        let asked = try await run(["ask", title] + options + buttons, words)
        #expect(asked.code == 0, "\(asked)")
    }

    @Test(
        "Within a boot, deadlines and snoozes keep their distance however the wall clock is set",
        arguments: ["+1y", "-1y", "@2040-02-01 10:00:00"])
    func jump(offset: String) async throws {
        try await ask("Answered", ["--timeout", "1h"], [])
        try await ask("Snoozed", [], [])
        #expect(try await queue.run("snooze", "2", "--for", "1h").code == 0)
        try await ask("Asked there", ["--timeout", "1h"], wall(offset))
        // The control: the clock really differs.
        let there = try await alert(3, [])["asked_at"] as? String
        #expect(there?.hasPrefix(String(try wallText().prefix(4))) == false)
        #expect(try await alert(1, wall(offset))["state"] as? String == "queued")
        // Reading the history first stores what is due.
        #expect(try await run(["history"], wall(offset)).code == 0)
        #expect(try await alert(2, wall(offset))["snoozed_until"] as? String != nil)
        #expect(try await alert(3, [])["state"] as? String == "queued")
        #expect(try await queue.objects("list").compactMap { $0["id"] as? Int } == [1, 3, 2])
        #expect(try await run(["answer", "1", "yes"], wall(offset)).code == 0)
        #expect(try await run(["answer", "3", "yes"], []).code == 0)
        try await ask("Short", ["--timeout", "1s"], [])
        #expect(
            try await eventually {
                try await alert(4, wall(offset))["outcome"] as? String == "expired"
            })
        #expect(try await queue.faults() == [])
    }

    @Test(
        "A question, snooze or clock beyond what the log can hold is refused, and nothing stored",
        arguments: [
            ("@9999-12-31 23:59:00", ["ask", "a", "-b", "x", "--detach", "--timeout", "1h"]),
            ("@9999-12-31 23:59:58", ["notify", "a", "--timeout", "5s"]),
            ("@9999-12-31 23:59:00", ["snooze", "1", "--for", "1h"]),
            ("@9999-12-31 23:56:00", ["snooze", "1"]),
            ("-100y", ["notify", "a"]), ("-100y", ["answer", "1", "yes"]),
        ])
    func beyond(offset: String, words: [String]) async throws {
        try await ask("Known", [], [])
        let refused = try await run(words, wall(offset))
        #expect(refused.code == 65, "\(refused)")
        #expect(refused.errors.contains("is outside of the years 1970 to 9999: "), "\(refused)")
        #expect(try await queue.run("audit", "verify").output == "1 entry verifies\n")
        #expect(try await queue.faults() == [])
    }

    private func wallText() throws -> String { ISO8601DateFormatter().string(from: Date()) }

    @Test("A wall clock that jumps back and forth by a second does not shift a deadline")
    func flapping() async throws {
        let file = queue.directory + "/clock"
        try "+1".write(toFile: file, atomically: true, encoding: .utf8)
        let library = try #require(Self.library)
        let client = try await QueueClient(
            on: queue,
            environment: realBoot.merging([
                "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1",
            ]) { $1 })
        let start = ContinuousClock.now
        let asked = try await client.ask("ask", ["title": "Soon", "timeout": 3000])
        try client.send("wait", ["id": try #require(asked.id), "tag": 1])
        let flapper = Task {
            var sign = "-"
            while !Task.isCancelled {
                try "\(sign)1".write(toFile: file, atomically: true, encoding: .utf8)
                sign = sign == "-" ? "+" : "-"
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        defer { flapper.cancel() }
        #expect(try await client.reply(to: 1).text("outcome") == "expired")
        #expect(ContinuousClock.now - start >= .milliseconds(2990))
        #expect(try await queue.faults() == [])
    }

    private static let library = ["x86_64", "aarch64"]
        .map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
        .first { FileManager.default.fileExists(atPath: $0) }

    /// Here libfaketime shifts boot time along with the wall clock, so that both advance while
    /// nothing runs, as they do while a machine is suspended.
    @Test("Deadlines and snoozes that end during a suspension are over afterwards")
    func suspension() async throws {
        let after = { (offset: String, verb: [String]) in
            try await queue.start(verb, under: wall(offset)).finish()
        }
        for (title, timeout) in [("One hour", ["--timeout", "1h"]), ("Snoozed", [])] {
            #expect(try await after("+0s", ["ask", title, "--detach"] + timeout).code == 0)
        }
        #expect(try await after("+0s", ["snooze", "2", "--for", "1h"]).code == 0)
        for (offset, isOver) in [("+30m", false), ("+2h", true)] {
            let first = try await after(offset, ["show", "1", "--json"]).output
            #expect(first.contains("\"outcome\":\"expired\"") == isOver, "\(offset): \(first)")
            let second = try await after(offset, ["show", "2", "--json"]).output
            #expect(second.contains("\"snoozed_until\":null") == isOver, "\(offset): \(second)")
        }
        // The next change stores the expiry with it.
        #expect(try await after("+2h", ["ask", "Another", "--detach"]).code == 0)
        #expect(try await queue.run("answer", "1", "OK").code == 16)
        // By the original clock, the snooze would have ended too early.
        #expect(try await after("+2h", ["audit", "verify"]).code == 0)
    }

    @Test("Times set where the id of the boot is hidden mean the same to every process and boot")
    func unreadableBoot() async throws {
        let hidden = [
            "unshare", "--mount", "sh", "-c",
            "umount -l /proc && mount -t proc -o subset=pid proc /proc && exec \"$0\" \"$@\"",
        ]
        try await ask("Asked there", ["--timeout", "1h"], hidden)
        try await ask("Snoozed there", [], hidden)
        #expect(try await run(["snooze", "2", "--for", "1h"], hidden).code == 0)
        try await ask("Asked here", ["--timeout", "1h"], [])
        #expect(try await alert(1, hidden)["expires_by"] as? String == "wall clock")
        #expect(try await alert(3, hidden)["expires_by"] as? String == "boot clock")
        let reboot = try boot("44444444-4444-4444-4444-444444444444", ahead: 1_000_000)
        for words in [[], hidden, reboot] {
            #expect(try await alert(1, words)["state"] as? String == "queued")
            #expect(try await alert(2, words)["snoozed_until"] as? String != nil)
            #expect(try await alert(3, words)["state"] as? String == "queued")
            let later = words + wall("+2h")
            #expect(try await alert(1, later)["outcome"] as? String == "expired")
            // Only where the boot is known to be the same, the wall clock does not matter.
            let isKnown = words.isEmpty
            #expect(
                try await alert(3, later)["outcome"] as? String == (isKnown ? nil : "expired"))
        }
        let wait = ["wait", "2", "--wait-for", "300ms"]
        #expect(
            try await eventually {
                let code = try await run(wait, upForDays + hidden + wall("+2h")).code
                let snoozes = try await queue.rows("SELECT count(snoozed_ms) FROM alerts")
                return code == 15 && snoozes == ["0"]
            })
        #expect(try await alert(2, [])["snoozed_until"] as? String == nil)
        // No two of these processes could tell that they were of one boot.
        #expect(try await queue.rows("SELECT count(DISTINCT boot) FROM alerts") == ["3"])
        #expect(try await queue.faults() == [])
    }

    @Test("After a reboot deadlines and snoozes follow the wall clock, and no alert is lost")
    func reboot() async throws {
        let before = try boot("22222222-2222-2222-2222-222222222222", ahead: 0)
        try await ask("One hour", ["--timeout", "1h"], before)
        try await ask("Snoozed", [], before)
        #expect(try await run(["snooze", "2", "--for", "1h"], before).code == 0)
        try await ask("For ever", [], before)
        let id = "33333333-3333-3333-3333-333333333333"
        for ahead in [0, 1_000_000] {
            let after = try boot(id, ahead: ahead)
            #expect(try await alert(1, after)["state"] as? String == "queued")
            #expect(try await alert(2, after)["snoozed_until"] as? String != nil)
        }
        // The control: within one boot the wall clock does not matter.
        let same = before + wall("+2h")
        #expect(try await alert(1, same)["state"] as? String == "queued")
        let later = try boot(id, ahead: 0) + wall("+2h")
        let wait = ["wait", "2", "--wait-for", "300ms"]
        // One that takes its time to start has none left to store the end of the snooze.
        #expect(
            try await eventually {
                let code = try await run(wait, upForDays + later).code
                let snoozes = try await queue.rows("SELECT count(snoozed_ms) FROM alerts")
                return code == 15 && snoozes == ["0"]
            })
        #expect(try await alert(1, later)["outcome"] as? String == "expired")
        #expect(try await alert(2, later)["snoozed_until"] as? String == nil)
        #expect(try await queue.objects("list").compactMap { $0["id"] as? Int } == [2, 3])
        #expect(try await queue.faults() == [])
    }
}
