import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The API, as a program in any language uses it through a service's socket.
@Suite("The API", .inParallel, .within(.seconds(120)))
struct APITests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    static let question =
        #"{"title":"Prune?","key":"k","buttons":[{"id":"yes","title":"Yes"},"#
        + #"{"id":"no","title":"No","role":"cancel"}]}"#

    @Test("A question is asked, answered and collected, and each step can be repeated")
    func cycle() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        let asked = try api.request("POST", "/v1/alerts", Self.question)
        #expect(asked.status == 201 && asked.headers["Location"] == "/v1/alerts/1", "\(asked)")
        #expect(
            asked.body["terminal"] as? Bool == false && asked.body["state"] as? String == "queued")
        #expect(try api.request("POST", "/v1/alerts", Self.question).status == 200)
        let other = try api.request("POST", "/v1/alerts", #"{"title":"Other?","key":"k"}"#)
        #expect(other.status == 409 && other.problem == "key-conflict", "\(other)")
        #expect(other.body["alert"] as? Int == 1 && other.body["part"] as? String == "title")
        #expect(other.body["exit_code"] as? Int == 16)
        let listed = try api.request("GET", "/v1/alerts?source=api").body["alerts"]
        #expect((listed as? [[String: any Sendable]])?.first?["title"] as? String == "Prune?")
        #expect(try api.request("GET", "/v1/alerts/1").body["key"] as? String == "k")
        let early = try api.request("POST", "/v1/alerts/1/collect")
        #expect(early.status == 409 && early.problem == "still-waiting", "\(early)")
        let unknown = try api.request("POST", "/v1/alerts/1/response", #"{"button":"maybe"}"#)
        #expect(unknown.status == 400 && unknown.problem == "no-such-button", "\(unknown)")
        #expect(unknown.body["buttons"] as? [String] == ["yes", "no"])
        let yes = #"{"button":"yes","note":"now"}"#
        for _ in 1...2 {
            let answered = try api.request("POST", "/v1/alerts/1/response", yes)
            #expect(answered.status == 200 && answered.body["button"] as? String == "yes")
        }
        let changed = try api.request(
            "POST", "/v1/alerts/1/response", #"{"button":"yes","note":"later"}"#)
        #expect(changed.status == 409, "\(changed)")
        let late = try api.request("POST", "/v1/alerts/1/response", #"{"button":"no"}"#)
        #expect(late.status == 409 && late.problem == "already-resolved", "\(late)")
        let first = late.body["response"] as? [String: any Sendable]
        #expect(first?["button"] as? String == "yes" && first?["note"] as? String == "now")
        let joined = try api.request("POST", "/v1/alerts?wait=10s", Self.question)
        #expect(joined.status == 200 && joined.body["terminal"] as? Bool == true)
        #expect(joined.body["collected_at"] as? String == nil)
        for _ in 1...2 {
            let collected = try api.request("POST", "/v1/alerts/1/collect")
            #expect(collected.status == 200 && collected.body["collected_at"] is String)
        }
        let record = try await queue.objects("show", "1")[0]
        #expect(record["by"] as? String == "program", "\(record)")
        let responder = record["responder"] as? [String: any Sendable]
        #expect(responder?["via"] as? String == "api")
        #expect(responder?["uid"] as? Int == Int(getuid()))
        #expect(responder?["pid"] as? Int == Int(getpid()))
        #expect(try await queue.isSound())
    }

    @Test("A request that waits is replied to when somebody answers, or says that it still waits")
    func waiting() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        let short = try api.request("POST", "/v1/alerts?wait=10ms", Self.question)
        #expect(short.status == 202 && short.body["terminal"] as? Bool == false, "\(short)")
        #expect(short.headers["Location"] == "/v1/alerts/1" && short.headers["Retry-After"] == "1")
        try api.send("GET", "/v1/alerts/1?wait=50s")
        // Other requests of the same client need not wait for it.
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        #expect(try await !(queue.objects("list")[0]["orphaned"] as? Bool ?? true))
        #expect(try await queue.run("answer", "1", "no").code == 0)
        let reply = try api.reply()
        #expect(reply.status == 200 && reply.body["button"] as? String == "no", "\(reply)")
    }

    @Test("A client that goes away leaves its question, which nobody waits for then")
    func gone() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        do {
            let api = try APIClient(of: service)
            try api.send("POST", "/v1/alerts?wait=50s", Self.question)
            #expect(
                try await eventually {
                    try await queue.objects("list").first?["orphaned"] as? Bool == false
                })
        }
        #expect(
            try await eventually {
                try await queue.objects("list").first?["orphaned"] as? Bool == true
            })
        let again = try APIClient(of: service)
        try again.send("POST", "/v1/alerts?wait=50s", Self.question)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try again.reply().status == 200)
    }

    /// A request, and the status and a part of the detail of its reply.
    private static let refusals: [(method: String, target: String, body: String?, Int, String)] = [
        ("POST", "/v1/alerts", nil, 400, "“title” is missing"),
        ("POST", "/v1/alerts", "[]", 400, "no object"),
        ("POST", "/v1/alerts", #"{"title":1}"#, 400, "“title”: Expected"),
        ("POST", "/v1/alerts", #"{"title":"Q","fields":[{"id":1}]}"#, 400, "“fields[0]”: the"),
        ("POST", "/v1/alerts", #"{"title":""}"#, 400, "title"),
        ("POST", "/v1/alerts", #"{"tilte":"Q"}"#, 400, "“tilte” is not known"),
        ("POST", "/v1/alerts", #"{"title":"Q","title":"R"}"#, 400, "title"),
        ("POST", "/v1/alerts", #"{"title":"Q","priority":"urgent"}"#, 400, "priority: low, normal"),
        ("POST", "/v1/alerts", #"{"title":"Q","timeout_ms":-1}"#, 400, "more than zero"),
        ("POST", "/v1/alerts", #"{"title":"Q","timeout_ms":1e40}"#, 400, "_ms” is not a whole"),
        ("POST", "/v1/alerts", #"{"title":"Q","snooze_ms":1.5}"#, 400, "_ms” is not a whole"),
        ("POST", "/v1/alerts", #"{"title":"Q","expires_at":"2099-02-30T00:00:00Z"}"#, 400, "02-30"),
        ("POST", "/v1/alerts", #"{"title":"Q","buttons":["Yes"]}"#, 400, "[0]” is no object"),
        ("POST", "/v1/alerts", #"{"title":"Q","replace":"yes"}"#, 400, "true or false"),
        ("POST", "/v1/alerts", #"{"title":"Q","replace":true}"#, 400, "key"),
        ("POST", "/v1/alerts?wait=soon", #"{"title":"Q"}"#, 400, "“soon” is not a duration"),
        ("POST", "/v1/alerts?wait=1s&wait=2s", #"{"title":"Q"}"#, 400, "comes twice"),
        ("POST", "/v1/alerts?collect=odd", #"{"title":"Q"}"#, 400, "true or false"),
        ("POST", "/v1/alerts?collect=true", #"{"title":"Q"}"#, 400, "for HTTP"),
        ("POST", "/v1/alerts?colour=red", #"{"title":"Q"}"#, 400, "“colour” is not known"),
        ("POST", "/v1/alerts", #"{"title":"Q","buttons":[{"id":"y","label":"Y"}]}"#, 400, "label"),
        ("POST", "/v1/alerts", #"{"title":"Q","buttons":[{"id":"y"}]}"#, 400, "buttons[0].title"),
        (
            "POST", "/v1/alerts", #"{"title":"Q","fields":[{"id":"a","required":"true"}]}"#, 400,
            "fields[0].required"
        ),
        (
            "POST", "/v1/alerts",
            #"{"title":"Q","timeout_ms":1,"expires_at":"2099-01-01T00:00:00.000Z"}"#, 400, "two"
        ),
        (
            "POST", "/v1/alerts", #"{"title":"Q","timeout_ms":9223372036854775807}"#, 400,
            "100 years"
        ),
        ("POST", "/v1/alerts", #"{"title":"Q","valid_ms":-9223372036854775808}"#, 400, "validity"),
        ("GET", "/v1/alerts?outcome=expired", nil, 400, "outcome"),
        ("GET", "/v1/alerts?state=resolved&uncollected=yes", nil, 400, "true or false"),
        ("GET", "/v1/alerts?key=k&limit=1", nil, 400, "limit"),
        ("GET", "/v1/alerts?source=%FF", nil, 400, "UTF-8"),
        ("GET", "/v1/alerts", "{}", 400, "no body"),
        ("GET", "/v1/audit?wait=soon", nil, 400, "soon"),
        ("GET", "/v1/alerts?limit=0", nil, 400, "limit"),
        ("GET", "/v1/alerts?limit=+5", nil, 400, "limit"),
        ("GET", "/v1/alerts?state=odd", nil, 400, "state"),
        ("GET", "/v1/alerts?state=resolved&outcome=odd", nil, 400, "one of answered"),
        ("GET", "/v1/alerts?state=resolved&since=today", nil, 400, "RFC 3339"),
        ("GET", "/v1/alerts?after=99", nil, 404, "99"),
        ("GET", "/v1/alerts?key=none", nil, 404, "source “api” has the key “none”"),
        ("GET", "/v1%2Falerts", nil, 404, "no route"),
        ("GET", "/v1/alerts/1%2f2", nil, 404, "no route"),
        ("GET", "/v1/%FF", nil, 400, "no path"),
        ("PUT", "/v1/alerts", nil, 405, "GET, POST"),
        ("GET", "/v1/alerts/99", nil, 404, "alert 99"),
        ("GET", "/v1/alerts/x", nil, 400, "not the number"),
        ("GET", "/v1/alerts/-1", nil, 400, "not the number"),
        ("GET", "/v1/alerts/+1", nil, 400, "not the number"),
        ("GET", "/v1/alerts/01", nil, 400, "not the number"),
        ("POST", "/v1/alerts/1", nil, 405, "GET"),
        ("POST", "/v1/alerts/1/response", nil, 400, "“button” is missing"),
        ("POST", "/v1/alerts/1/response", #"{"button":"OK","seen":"x"}"#, 400, "digest"),
        ("POST", "/v1/alerts/1/response", #"{"button":"OK","values":{"a":1}}"#, 400, "no fields"),
        ("POST", "/v1/alerts/1/snooze", #"{"for_ms":"1h"}"#, 400, "milliseconds"),
        ("POST", "/v1/alerts/1/claim", #"{"for_ms":1,"release":true}"#, 400, "ends it"),
        ("POST", "/v1/alerts/1/claim", #"{"for_ms":0}"#, 400, "claim"),
        ("POST", "/v1/alerts/1/explode", nil, 404, "no route"),
        ("GET", "/v1/audit?after=odd", nil, 400, "cursor"),
        ("GET", "/v1/audit?after=+7:" + String(repeating: "0", count: 64), nil, 400, "cursor"),
        ("GET", "/v1/audit?after=7:" + String(repeating: "A", count: 64), nil, 400, "cursor"),
        ("GET", "/v1/audit?after=7:" + String(repeating: "0", count: 64), nil, 410, "entry 7"),
        ("GET", "/v2/alerts", nil, 404, "no route"),
        ("GET", "http://example/v1/alerts", nil, 400, "no path"),
        ("GET", "alerts", nil, 400, "no path"),
    ]

    @Test("What can't be done gets a problem that says what, which and what to do")
    func refused() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        #expect(
            try api.request("POST", "/v1/alerts", #"{"title":"Q","buttons":[{"title":"OK"}]}"#)
                .status == 201)
        for (method, target, body, status, detail) in Self.refusals {
            let reply = try api.request(method, target, body)
            let what = "\(method) \(target) \(body ?? ""): \(reply)"
            #expect(reply.status == status && reply.detail.contains(detail), "\(what)")
            #expect(reply.body["status"] as? Int == status, "\(what)")
            #expect(reply.body["exit_code"] is Int && reply.problem != nil, "\(what)")
        }
        #expect(try await queue.run("list", "--count").output == "1\n")
    }

    @Test("Events are read from any entry on, page by page, and waited for")
    func events() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        for number in 1...3 {
            _ = try api.request("POST", "/v1/alerts", #"{"title":"Q\#(number)"}"#)
        }
        let page = try api.request("GET", "/v1/audit?limit=2")
        let events = page.body["entries"] as? [[String: any Sendable]]
        #expect(events?.map { $0["sequence"] as? Int } == [1, 2])
        let cursor = try #require(page.body["cursor"] as? String)
        let next = try api.request("GET", "/v1/audit?after=\(cursor)")
        let end = try #require(next.body["cursor"] as? String)
        #expect(
            try api.request("GET", "/v1/audit?after=\(end)&wait=1ms").body["cursor"] as? String
                == end)
        try api.send("GET", "/v1/audit?after=\(end)&wait=50s")
        #expect(try await queue.run("withdraw", "2").code == 0)
        let last = try api.reply().body["entries"] as? [[String: any Sendable]]
        #expect(last?.first?["event"] as? String == "resolved", "\(String(describing: last))")
        let health = try api.request("GET", "/v1/health").body
        #expect(health["ready"] as? Bool == true && health["waiting"] as? Int == 2, "\(health)")
    }

    @Test("An answer that is too old to be used is refused as stale, and collected")
    func stale() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        let body = #"{"title":"Q","key":"k","valid_ms":1,"buttons":[{"id":"yes","title":"Yes"}]}"#
        #expect(try api.request("POST", "/v1/alerts", body).status == 201)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let reply = try api.request("POST", "/v1/alerts?wait=5s", body)
        #expect(reply.status == 409 && reply.problem == "stale", "\(reply)")
        #expect(reply.body["exit_code"] as? Int == 18)
        #expect(try await queue.objects("show", "1")[0]["collected_at"] is String)
        #expect(try api.request("POST", "/v1/alerts/1/collect").problem == "stale")
        let times = "since=2020-01-01T00:00:00Z&until=2099-01-01T01:00:00%2B01:00"
        let page = try api.request("GET", "/v1/alerts?state=resolved&\(times)")
        #expect((page.body["alerts"] as? [any Sendable])?.count == 1, "\(page)")
    }

    @Test("A page of large alerts ends early, and says where the next one begins")
    func largePages() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        let message = String(repeating: "m", count: 60_000)
        for number in 1...150 {
            let body = #"{"title":"Q\#(number)","message":"\#(message)"}"#
            #expect(try api.request("POST", "/v1/alerts", body).status == 201)
        }
        var (ids, next): ([Int], Int?) = ([], nil)
        repeat {
            let after = next.map { "&after=\($0)" } ?? ""
            let page = try api.request("GET", "/v1/alerts?limit=1000" + after)
            let alerts = try #require(page.body["alerts"] as? [[String: any Sendable]])
            #expect(alerts.count <= 100 && (page.headers["Link"] == nil) == (alerts.count < 100))
            ids += alerts.compactMap { $0["id"] as? Int }
            next = page.body["next"] as? Int
        } while next != nil
        #expect(ids == Array(1...150))
    }

    @Test("A service that ends has waiting requests replied to, and goes on with none")
    func stopped() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        #expect(try api.request("GET", "/v1/audit").body["cursor"] as? String == "0")
        try api.send("POST", "/v1/alerts?wait=50s", Self.question)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        service.process.kill(SIGTERM)
        let reply = try api.reply()
        #expect(reply.status == 202 && reply.body["terminal"] as? Bool == false, "\(reply)")
        #expect(await service.process.exit() == 0)
    }

    @Test("The history is read page by page, and filtered")
    func history() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        for number in 1...5 {
            _ = try api.request("POST", "/v1/alerts", #"{"title":"Q\#(number)","source":"s"}"#)
            _ = try api.request("POST", "/v1/alerts/\(number)/withdraw", #"{"because":"over"}"#)
        }
        var target: String? = "/v1/alerts?state=resolved&source=s&outcome=withdrawn&limit=2"
        var ids: [Int] = []
        while let page = target {
            let reply = try api.request("GET", page)
            let alerts = reply.body["alerts"] as? [[String: any Sendable]] ?? []
            ids += alerts.compactMap { $0["id"] as? Int }
            target = reply.headers["Link"]?.split(separator: ">").first.map {
                String($0.dropFirst())
            }
        }
        #expect(ids == [5, 4, 3, 2, 1])
        let answered = try api.request("GET", "/v1/alerts?state=resolved&outcome=answered")
        #expect((answered.body["alerts"] as? [any Sendable])?.isEmpty == true)
    }

    @Test("Snoozing, cancelling and values of fields are as with the verbs")
    func others() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let api = try APIClient(of: service)
        let asked = try await queue.run(
            "ask", "Name?", "--detach", "--field", "name=Name", "--source", "s")
        #expect(asked.code == 0)
        let snoozed = try api.request("POST", "/v1/alerts/1/snooze", #"{"for_ms":3600000}"#)
        #expect(snoozed.status == 200 && snoozed.body["snoozed_until"] is String, "\(snoozed)")
        let claimed = try api.request("POST", "/v1/alerts/1/claim", #"{"for_ms":60000}"#)
        let claimant = claimed.body["claimed_by"] as? [String: any Sendable]
        #expect(claimed.status == 200 && claimant?["via"] as? String == "api", "\(claimed)")
        let released = try api.request("POST", "/v1/alerts/1/claim", #"{"release":true}"#)
        #expect(released.body["claimed_by"] is NSNull, "\(released)")
        let answered = try api.request(
            "POST", "/v1/alerts/1/response", #"{"button":"OK","values":{"name":"nas"}}"#)
        let values = answered.body["values"] as? [String: any Sendable]
        #expect(values?["name"] as? String == "nas", "\(answered)")
        #expect(try await queue.run("ask", "Q", "--detach", "-b", "yes").code == 0)
        let cancelled = try api.request("POST", "/v1/alerts/2/cancel")
        #expect(cancelled.body["outcome"] as? String == "cancelled", "\(cancelled)")
        let seen = try api.request("GET", "/v1/alerts/1").body["seen"] as? String
        #expect(seen?.count == 64)
        #expect(try await queue.run("ask", "R", "--detach", "-b", "yes").code == 0)
        let stale = try api.request(
            "POST", "/v1/alerts/3/response", #"{"button":"yes","seen":"\#(seen ?? "")"}"#)
        #expect(stale.status == 412 && stale.problem == "not-as-seen", "\(stale)")
    }
}
