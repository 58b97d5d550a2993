import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite(
    "A service whose queue can't be used", .inParallel, .within(.seconds(120)),
    .enabled(if: Tool.hasHTTP, "needs libmicrohttpd"))
struct UnavailableTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let question = #"{"title":"Q","buttons":[{"id":"yes","title":"Yes"}]}"#

    private func expectUnavailable(_ reply: HTTPClient.Reply, _ reason: String) {
        #expect(reply.status == 503 && reply.problem == "unavailable", "\(reply)")
        #expect(reply.fields["retry-after"] == "5", "\(reply)")
        #expect((reply.json["detail"] as? String)?.contains(reason) == true, "\(reply)")
    }

    @Test("It says that the queue is locked, and by whom")
    func locked() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        defer { service.process.kill(SIGKILL) }
        let client = try HTTPClient(service)
        #expect(try client.request("POST", "/v1/alerts", Self.question).status == 201)
        let holder = try await queue.lockHolder()
        expectUnavailable(
            try client.request("POST", "/v1/alerts", Self.question), "\(holder.pid) (sleep)")
        #expect(try client.request("GET", "/v1/alerts/1").status == 200)
        holder.kill(SIGKILL)
        _ = await holder.exit()
        #expect(try client.request("POST", "/v1/alerts", Self.question).status == 201)
    }

    @Test("It says that the file was deleted, and uses no other one")
    func gone() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let client = try HTTPClient(service)
        #expect(try client.request("POST", "/v1/alerts", Self.question).status == 201)
        try FileManager.default.removeItem(atPath: queue.path)
        for (target, body) in [("", Self.question), ("/1/withdraw", "{}")] {
            expectUnavailable(
                try client.request("POST", "/v1/alerts" + target, body),
                "has been deleted or replaced")
        }
        expectUnavailable(try client.request("GET", "/v1/health"), "has been deleted or replaced")
        service.process.kill(SIGTERM)
        #expect(await service.process.exit() == 0)
    }

    @Test(
        "It says that the disk is full, takes answers all the same, and questions again later",
        .enabled(if: geteuid() == 0, "only root can mount a small file system"))
    func full() async throws {
        let disk = try await SmallDisk(at: queue.directory, size: "16m")
        defer { _ = disk }
        let service = try await CommandLineQueue.Service(of: queue)
        defer { service.process.kill(SIGKILL) }
        let client = try HTTPClient(service)
        for _ in 1...20 {
            #expect(try client.request("POST", "/v1/alerts", Self.question).status == 201)
        }
        let filler = try await disk.fill()
        // Pages that are free within the file are used first.
        var refused = try client.request("POST", "/v1/alerts", Self.question)
        while refused.status == 201 {
            refused = try client.request("POST", "/v1/alerts", Self.question)
        }
        expectUnavailable(refused, "the disk is full")
        #expect(refused.json["exit_code"] as? Int == 74)
        for id in 1...20 {
            let answer = try client.request(
                "POST", "/v1/alerts/\(id)/response", #"{"button":"yes"}"#)
            #expect(answer.status == 200, "\(answer)")
        }
        try FileManager.default.removeItem(atPath: filler)
        #expect(try client.request("POST", "/v1/alerts", Self.question).status == 201)
        #expect(try await queue.isSound())
    }
}
