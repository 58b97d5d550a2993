import Foundation
import Glibc
import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

@Suite("A server under load", .inParallel(places: 3), .needsServer)
struct ServerLoadTests {
    @Test(
        "200 askers, 20 answerers and 5 screens of several machines leave the queue clean",
        .enabled(if: FaultForm.isFull, "takes ten minutes, for ALERTQ_FAULTS=full"))
    func load() async throws {
        let seconds = 600
        // The memory that a server has by default.
        let fleet = try await FleetQueue(hosts: 8, settings: ["shared_buffers": "128MB"])
        // Each is as a service would be, for the programs of a hundred others.
        let services = [
            try await QueueClient(on: fleet.hosts[0]),
            try await QueueClient(on: fleet.hosts[1]),
        ]
        let answerers = [
            try await QueueClient(on: fleet.hosts[2]),
            try await QueueClient(on: fleet.hosts[3]),
            try await QueueClient(on: fleet.hosts[2]),
            try await QueueClient(on: fleet.hosts[3]),
        ]
        let screens = try (3..<8).map { number in
            let queue = fleet.hosts[number]
            let program = try queue.script("waiting", "cat > /dev/null; exec sleep 1000")
            return try queue.start(["present", "--on", "command:\(program)"])
        }
        let replies = try await withThrowingTaskGroup { group in
            for (number, service) in services.enumerated() {
                group.addTask {
                    try await Self.crowd(service, "service \(number)", 100, 0, seconds)
                }
            }
            // They go on until nobody waits for an answer.
            for (number, answerer) in answerers.enumerated() {
                group.addTask {
                    try await Self.crowd(answerer, "answerer \(number)", 0, 5, seconds + 20)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var times = [Int](repeating: 0, count: 5000)
        for reply in replies {
            #expect(reply.error == nil && reply.fields["errors"] as? [String] == [])
            for (time, count) in (reply.fields["answers"] as? [Int] ?? []).enumerated() {
                times[time] += count
            }
        }
        let asked = replies.compactMap { $0.number("asked") }.reduce(0, +)
        let answered = times.reduce(0, +)
        let bound = { (share: Int) in
            var rest = answered * share / 100
            return times.firstIndex { count in
                rest -= count
                return rest < 0
            } ?? times.count
        }
        FaultForm.report(
            "Server under load: \(asked) asked, \(answered) answered in \(seconds) s; an answer "
                + "took p50 \(bound(50)) ms, p99 \(bound(99)) ms, at most "
                + "\(times.lastIndex { $0 > 0 } ?? 0) ms")
        #expect(asked == answered && asked > 0)
        for screen in screens {
            #expect(screen.poll() == nil, "\(screen.errors.text)")
            // Besides events it says what it shows, and where the log ends.
            let expected = /alertq: (alert [0-9]+|showing alerts on|the audit log of)\b.*/
            let troubles = screen.errors.text.split(separator: "\n").filter { line in
                line.wholeMatch(of: expected) == nil
            }
            #expect(troubles == [])
            screen.kill(SIGTERM)
            _ = await screen.exit()
        }
        for client in services + answerers { #expect(await client.end() == 0) }
        #expect(try await fleet.faults() == [])
        let db = try Connection(fleet.server.location)
        #expect(try db.first("SELECT count(*) FROM alerts") { Int($0.integer()) } == asked)
    }

    private static func crowd(
        _ client: QueueClient, _ name: String, _ askers: Int, _ answerers: Int, _ seconds: Int
    ) async throws -> QueueClient.Reply {
        try await client.ask(
            "crowd",
            ["name": name, "askers": askers, "answerers": answerers, "seconds": seconds],
            seconds: seconds + 120, each: .seconds(1))
    }
}
