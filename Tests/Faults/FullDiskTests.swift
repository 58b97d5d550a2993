import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// A queue on a small file system of its own, which is filled up. Only root can mount one.
@Suite(
    "Full disk", .inParallel,
    .enabled(if: geteuid() == 0, "only root can mount a small file system"))
struct FullDiskTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("A purge for which there is no room says how much it needs, and erases nothing")
    func purge() async throws {
        let disk = try await SmallDisk(at: queue.directory, size: "16m")
        defer { _ = disk }
        let text = String(repeating: "SECRET text ", count: 5000)
        for number in 1...70 {
            #expect(try await queue.run("notify", "\(number)", "-m", text).code == 0)
            #expect(try await queue.run("withdraw", "\(number)").code == 0)
        }
        let purge = ["purge", "--older-than", "now"]
        let refused = try await queue.start(purge).finish()
        #expect(refused.code == 74, "\(refused)")
        let sizes = /\d MiB have to be free on its file system, and \d MiB are/
        #expect(refused.errors.contains(sizes), "\(refused)")
        #expect(try await queue.rows("SELECT count(*) FROM alerts WHERE salt IS NULL") == ["0"])
        let left = try await queue.start(purge + ["--no-vacuum"]).finish()
        #expect(left.code == 0 && left.output.contains("the texts of 70 alerts"))
        #expect(try await queue.start(purge).finish().code == 74)
        try await disk.remount("size=64m")
        #expect(try await queue.start(purge).finish().code == 0)
        #expect(try await Child("grep", ["-rail", "SECRET", queue.directory]).exit() == 1)
        #expect(try await queue.isSound())
    }

    @Test("An idle process applies deadlines even on a full disk")
    func deadlines() async throws {
        let disk = try await SmallDisk(at: queue.directory, size: "16m")
        defer { _ = disk }
        let client = try await QueueClient(on: queue)
        for number in 1...30 {
            let asked = try await client.ask(
                "ask", ["title": "Question \(number)", "timeout": 2000, "default": "no"])
            #expect(asked.error == nil)
        }
        let filler = try await disk.fill()
        let expired = "SELECT count(*) FROM alerts WHERE outcome = 'expired'"
        #expect(try await eventually { try await queue.rows(expired) == ["30"] })
        try FileManager.default.removeItem(atPath: filler)
        #expect(await client.end() == 0)
        #expect(try await queue.isSound())
    }

    @Test("On a full disk, a refused ask leaves the answers what is set aside for them")
    func refusedAsk() async throws {
        let disk = try await SmallDisk(at: queue.directory, size: "16m")
        defer { _ = disk }
        let count = 100
        for number in 1...count {
            #expect(try await queue.run("ask", "Question \(number)", "--detach").code == 0)
        }
        _ = try await disk.fill()
        let reserve = {
            let path = queue.path + "-reserve"
            return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        }
        let full = try reserve()
        var answered = 0
        // Programs that run meanwhile use up whatever becomes free.
        let answer = {
            answered += 1
            _ = try await disk.fill()
            let answer = try await queue.run("answer", "\(answered)", "ok")
            #expect(answer.code == 0, "\(answered): \(answer.errors)")
        }
        while try reserve() == full, answered < count { try await answer() }
        let left = try reserve()
        #expect(left > 0 && left < full)
        let refused = try await queue.run("ask", "One more", "--detach")
        #expect(refused.code == 74 && refused.errors.contains("disk is full"), "\(refused)")
        #expect(try reserve() == left)
        while answered < count { try await answer() }
    }

    @Test(
        "On a full disk, asks are refused, waiting alerts are answered, and asks work again later",
        arguments: ["new processes", "a running process"])
    func full(who: String) async throws {
        let disk = try await SmallDisk(at: queue.directory, size: "16m")
        defer { _ = disk }
        let ledger = Ledger()
        let client = try await QueueClient(on: queue)
        for number in 1...100 {
            let asked = try await client.ask("ask", ["title": "Question \(number)"])
            ledger.note(ask: try #require(asked.id), title: "Question \(number)")
        }
        try client.send("wait", ["id": 50, "tag": 1])
        if who == "new processes" { client.process.kill(SIGKILL) }
        let isThere = client.process.poll() == nil && who == "a running process"
        let filler = try await disk.fill()
        let refused = try await eventually {
            let finished = try await queue.run("ask", "One more", "--detach")
            return finished.code == 74 && finished.errors.contains("disk is full")
        }
        #expect(refused)
        if isThere {
            let asked = try await client.ask("ask", ["title": "Another"])
            #expect(asked.error == "storage" && asked.text("text")?.contains("full") == true)
            try await expectNoSpinning(client.process.pid)
        }
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 74, "\(doctor)")
        #expect(doctor.output.contains(" of the 4.0 MiB that are set aside"), "\(doctor)")
        for id in 1...100 {
            if isThere, id % 2 == 0 {
                let reply = try await client.ask("answer", ["id": id, "button": "yes"])
                #expect(reply.error == nil, "\(id): \(reply)")
            } else {
                let finished = try await queue.run("answer", "\(id)", "yes")
                #expect(finished.code == 0, "\(id): \(finished.errors)")
            }
            ledger.note(answer: "yes", to: id)
        }
        if isThere { #expect(try await client.reply(to: 1).text("button") == "yes") }
        try FileManager.default.removeItem(atPath: filler)
        #expect(try await queue.run("ask", "And on", "--detach").code == 0)
        if isThere { #expect(try await client.ask("ask", ["title": "On"]).error == nil) }
        #expect(try await queue.run("doctor").code == 0)
        #expect(try await queue.faults(against: ledger) == [])
    }
}
