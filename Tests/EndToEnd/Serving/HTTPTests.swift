import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// The API over HTTP, on a socket and on a port of this machine.
@Suite("The API over HTTP", .inParallel, .within(.seconds(120)), .needsHTTP)
struct HTTPTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("A question is asked, waited for, answered and collected over HTTP")
    func cycle() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let asker = try HTTPClient(service)
        let asked = try asker.request("POST", "/v1/alerts", APITests.question)
        #expect(asked.status == 201 && asked.fields["location"] == "alerts/1", "\(asked)")
        #expect(asked.fields["content-type"] == "application/json")
        #expect(asked.fields["cache-control"] == "no-store")
        try asker.send("POST", "/v1/alerts?wait=50s", APITests.question)
        let person = try HTTPClient(service)
        // A look at it, as programs take one that show where a link leads, changes nothing.
        let before = try person.request("GET", "/v1/audit").body
        for method in ["GET", "HEAD"] {
            #expect(try person.request(method, "/v1/alerts/1").status == 200)
            #expect(try person.request(method, "/v1/alerts/1?collect=true").status == 400)
            #expect(try person.request(method, "/v1/alerts/1/cancel").status == 405)
        }
        #expect(try person.request("GET", "/v1/audit").body == before)
        #expect(try person.request("GET", "/v1/alerts/1/response").status == 405)
        let answered = try person.request("POST", "/v1/alerts/1/response", #"{"button":"yes"}"#)
        #expect(answered.status == 200 && answered.json["button"] as? String == "yes")
        let reply = try asker.reply()
        #expect(reply.status == 200 && reply.json["terminal"] as? Bool == true, "\(reply)")
        #expect(try await queue.objects("show", "1")[0]["collected_at"] as? String == nil)
        #expect(try asker.request("POST", "/v1/alerts/1/collect").status == 200)
        #expect(try await queue.objects("show", "1")[0]["collected_at"] is String)
        let record = try await queue.objects("show", "1")[0]["responder"]
        let responder = record as? [String: any Sendable]
        #expect(responder?["pid"] as? Int == Int(getpid()) && responder?["via"] as? String == "api")
        let late = try person.request("POST", "/v1/alerts/1/response", #"{"button":"no"}"#)
        #expect(late.status == 409 && late.problem == "already-resolved", "\(late)")
        #expect(late.fields["content-type"] == "application/problem+json")
        #expect(try await queue.isSound())
    }

    @Test("As text, an alert is the id of a button or an outcome, which can't be confused")
    func text() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let client = try HTTPClient(service)
        let plain = ["Accept: text/plain"]
        #expect(
            try client.request("POST", "/v1/alerts", APITests.question, plain).body == "WAITING\n")
        #expect(
            try client.request("POST", "/v1/alerts?wait=1ms", APITests.question, plain).status
                == 202)
        #expect(try await queue.run("answer", "1", "no").code == 0)
        let word = try client.request("POST", "/v1/alerts?wait=1s", APITests.question, plain)
        #expect(word.status == 200 && word.body == "no\n", "\(word)")
        #expect(word.fields["content-type"] == "text/plain")
        for (number, verb) in [(2, "withdraw"), (3, "cancel")] {
            #expect(
                try client.request("POST", "/v1/alerts", #"{"title":"Q\#(number)"}"#).status == 201)
            #expect(try await queue.run(verb, "\(number)").code == 0)
        }
        #expect(try client.request("GET", "/v1/alerts/2", nil, plain).body == "WITHDRAWN\n")
        #expect(try client.request("GET", "/v1/alerts/3", nil, plain).body == "CANCELLED\n")
        // A default that was applied is nobody's choice.
        let expiring =
            #"{"title":"Q","default":"y","timeout_ms":1,"buttons":[{"id":"y","title":"Y"}]}"#
        let expired = try client.request("POST", "/v1/alerts?wait=20s", expiring, plain)
        #expect(expired.body == "EXPIRED\n", "\(expired)")
        let old = #"{"title":"Q","valid_ms":1,"buttons":[{"id":"yes","title":"Yes"}]}"#
        #expect(try client.request("POST", "/v1/alerts", old).status == 201)
        #expect(try await queue.run("answer", "5", "yes").code == 0)
        let stale = try client.request("GET", "/v1/alerts/5", nil, plain)
        #expect(stale.status == 409 && stale.problem == "stale", "\(stale)")
        for id in ["expired", "Waiting", "RECORDED", "two words", #"a\u0007"#, #"\u00a0"#] {
            let body = #"{"title":"Q","buttons":[{"id":"\#(id)","title":"B"}]}"#
            let refused = try client.request("POST", "/v1/alerts", body, plain)
            #expect(refused.status == 400, "\(id): \(refused)")
        }
        #expect(try await queue.run("list", "--count").output == "0\n")
        #expect(
            try client.request("POST", "/v1/alerts/9/cancel", nil, plain).problem == "not-found")
    }

    @Test("A request with the same Idempotency-Key asks once, also after a restart of the service")
    func idempotencyKey() async throws {
        let body = #"{"title":"Q?","buttons":[{"id":"yes","title":"Yes"}]}"#
        var service = try await CommandLineQueue.Service(of: queue)
        let client = try HTTPClient(service)
        let named = ["Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324"]
        let asked = try client.request("POST", "/v1/alerts", body, named)
        #expect(asked.status == 201 && asked.json["id"] as? Int == 1, "\(asked)")
        let quoted = [#"Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324""#]
        for again in [named, quoted] {
            let reply = try client.request("POST", "/v1/alerts", body, again)
            #expect(reply.status == 201 && reply.json["id"] as? Int == 1, "\(reply)")
        }
        #expect(try client.request("POST", "/v1/alerts", body).json["id"] as? Int == 2)
        for other in [#"{"title":"R?"}"#, body.replacing("}]", with: #"}],"source":"s""#)] {
            let refused = try client.request("POST", "/v1/alerts", other, named)
            #expect(refused.status == 422 && refused.problem == "idempotency-key-reused")
            #expect(refused.json["alert"] as? Int == 1, "\(refused)")
        }
        for wrong in [
            #""#, #"a b"#, "ü", #""a"#, #"a""#, #""a"b""#, "\"", String(repeating: "k", count: 256),
        ] {
            let refused = try client.request(
                "POST", "/v1/alerts", body, ["Idempotency-Key: \(wrong)"])
            #expect(refused.status == 400, "\(wrong): \(refused)")
        }
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        service.process.kill(SIGKILL)
        _ = await service.process.exit()
        service = try await CommandLineQueue.Service(of: queue)
        let next = try HTTPClient(service)
        let found = try next.request("POST", "/v1/alerts?wait=1s", body, named)
        #expect(found.status == 200 && found.json["button"] as? String == "yes", "\(found)")
        let again = try next.request("POST", "/v1/alerts", body, named)
        #expect(again.status == 200 && again.json["button"] as? String == "yes", "\(again)")
        // Two at once.
        let clients = [try HTTPClient(service), try HTTPClient(service)]
        for client in clients {
            try client.send("POST", "/v1/alerts", body, ["Idempotency-Key: twice"])
        }
        #expect(try clients.map { try $0.reply().json["id"] as? Int } == [3, 3])
        #expect(
            try await queue.objects("audit", "list").count { $0["event"] as? String == "asked" }
                == 3)
    }

    @Test("The host of its URL is one more name of a service, and its page may ask")
    func url() async throws {
        let service = try await CommandLineQueue.Service(
            of: queue, url: "https://Alerts.example/alerts/")
        let client = { (host: String, origin: String?) in
            let client = try HTTPClient(service)
            let origin = origin.map { "Origin: \($0)\r\n" } ?? ""
            try client.send("GET /v1/health HTTP/1.1\r\nHost: \(host)\r\n\(origin)\r\n")
            return try client.reply().status
        }
        for host in ["alerts.example", "ALERTS.example:443", "localhost", "127.0.0.1:80"] {
            #expect(try client(host, nil) == 200, "\(host)")
        }
        for host in ["alerts.example:444", "other.example", "alerts.example.other", "a.example"] {
            #expect(try client(host, nil) == 421, "\(host)")
        }
        #expect(try client("alerts.example", "https://alerts.example") == 200)
        #expect(try client("localhost", "https://alerts.example") == 200)
        for origin in ["http://alerts.example", "https://other.example", "null"] {
            #expect(try client("alerts.example", origin) == 403, "\(origin)")
        }
        for url in [
            "http://alerts.example", "https://a?b", "https://u@a", "ftp://a", "https://", "x",
        ] {
            let refused = try await queue.run("serve", "--url", url)
            #expect(refused.code == 64 && refused.errors.contains("is not https://"), "\(refused)")
        }
        let variable = try queue.start(["serve"], environment: ["ALERTQ_URL": "nowhere"])
        #expect(await variable.finish().errors.contains("$ALERTQ_URL: “nowhere”"))
    }

    @Test("A response is collected with its reply only if the client was there to read it")
    func collecting() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let gone = try HTTPClient(service)
        try gone.send("POST", "/v1/alerts?wait=50s&collect=true", APITests.question)
        let waits = { (isOrphaned: Bool) in
            try await eventually {
                try await queue.objects("list").first?["orphaned"] as? Bool == isOrphaned
            }
        }
        #expect(try await waits(false))
        shutdown(gone.socket.raw, Int32(SHUT_RDWR))
        // The kernel tells the service, which gives the request up.
        #expect(try await waits(true))
        let client = try HTTPClient(service)
        #expect(
            try client.request("POST", "/v1/alerts/1/response", #"{"button":"yes"}"#).status == 200)
        #expect(try await queue.objects("show", "1")[0]["collected_at"] as? String == nil)
        let target = "/v1/alerts?wait=1s&collect=true"
        #expect(
            try client.request("POST", target, APITests.question).json["button"] as? String == "yes"
        )
        #expect(
            try await eventually {
                try await queue.objects("show", "1")[0]["collected_at"] is String
            })
    }

    @Test("On a port, a client sends the token of a file that others can't read")
    func token() async throws {
        let service = try await CommandLineQueue.Service(of: queue, listens: true)
        let file = service.directory + "/api.token"
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let token = try service.token
        #expect(token.hasPrefix("aq_") && token.utf8.count > 64)
        let port = try #require(service.port)
        let reply = { (fields: [String]) in
            try HTTPClient(port: port).request("GET", "/v1/alerts", nil, fields)
        }
        let none = try reply([])
        #expect(none.status == 401 && none.fields["www-authenticate"] == "Bearer", "\(none)")
        let other = token.dropLast() + (token.hasSuffix("0") ? "1" : "0")
        for wrong in [
            "Bearer ", "Bearer \(token)0", "Basic \(token)", "Bearer \(other)",
        ] {
            #expect(try reply(["Authorization: \(wrong)"]).status == 401, "\(wrong)")
        }
        let own = ["Authorization: Bearer \(token)"]
        #expect(try reply(own).status == 200)
        #expect(
            try HTTPClient(port: port).request("GET", "/v1/health").body == "{\"ready\":true}\n")
        let client = try HTTPClient(port: port)
        #expect(try client.request("POST", "/v1/alerts", APITests.question, own).status == 201)
        let record = try await queue.objects("show", "1")[0]
        #expect(record["means"] as? String == "token:serve", "\(record)")
        #expect(record["uid"] as? Int == Int(getuid()) && record["pid"] as? Int == nil)
        // On the socket the kernel says who it is.
        #expect(try HTTPClient(service).request("GET", "/v1/alerts", nil, own).status == 401)
        service.process.kill(SIGTERM)
        #expect(await service.process.exit() == 0)
        let again = try await CommandLineQueue.Service(of: queue, listens: true)
        #expect(
            try HTTPClient(port: try #require(again.port)).request("GET", "/v1/alerts", nil, own)
                .status == 200)
        again.process.kill(SIGTERM)
        #expect(await again.process.exit() == 0)
        chmod(file, 0o644)
        let open = try await queue.run(
            "serve", "--sockets", again.directory, "--listen", "127.0.0.1:0")
        #expect(open.code == 77 && open.errors.contains("delete it"), "\(open)")
    }

    @Test("A port that is taken is refused with who has it, and another machine's address too")
    func addresses() async throws {
        let taken = try LocalSocket.listening()
        let words = ["serve", "--sockets", queue.directory + "/s", "--listen"]
        let busy = try await queue.start(words + ["127.0.0.1:\(taken.port)"]).finish()
        #expect(busy.code == 75 && busy.errors.contains("process \(getpid())"), "\(busy)")
        for address in [
            "0.0.0.0:80", "example.com:80", "localhost:80", "[::]:80", "127.0.0.1:70000",
        ] {
            let refused = try await queue.start(words + [address]).finish()
            #expect(refused.code == 64 && refused.errors.contains("127.0.0.1:8080"), "\(refused)")
        }
    }

    @Test("A body of a megabyte is taken, and a longer one refused before it is read")
    func lengths() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        // Each character has six bytes as an escape, and one in the queue.
        let message = String(repeating: #"\u0041"#, count: 64 << 10)
        let values = (0..<3).map { #""a\#($0)":"\#(String(repeating: #"\u0042"#, count: 5000))""# }
        let body =
            #"{"title":"Q","message":"\#(message)","info":{\#(values.joined(separator: ","))}}"#
        let whole = body + String(repeating: " ", count: (1 << 20) - body.utf8.count)
        #expect(try HTTPClient(service).request("POST", "/v1/alerts", whole).status == 201)
        let client = try HTTPClient(service)
        try client.send(
            "POST /v1/alerts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \((1 << 20) + 1)\r\n\r\n")
        let refused = try client.reply()
        #expect(refused.status == 413 && refused.problem == "too-large", "\(refused)")
        #expect(client.isClosed())
    }

    @Test("A service that was stopped replies to what has come meanwhile, and asks it once")
    func suspended() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let (asker, other) = (try HTTPClient(service), try HTTPClient(service))
        let key = ["Idempotency-Key: k"]
        #expect(try other.request("GET", "/v1/health").status == 200)
        service.process.kill(SIGSTOP)
        try asker.send("POST", "/v1/alerts", APITests.question, key)
        // A client that can't wait asks again.
        let hasty = try HTTPClient(service)
        try hasty.send("POST", "/v1/alerts", APITests.question, key)
        _ = shutdown(hasty.socket.raw, Int32(SHUT_RDWR))
        try other.send("GET", "/v1/health")
        service.process.kill(SIGCONT)
        #expect(try asker.reply().json["id"] as? Int == 1)
        #expect(try other.reply().status == 200)
        let again = try asker.request("POST", "/v1/alerts", APITests.question, key)
        #expect(again.json["id"] as? Int == 1, "\(again)")
        #expect(try await queue.run("list", "--count").output == "1\n")
    }

    @Test("A service that ends has its requests replied to, and tells streams to come again")
    func stopped() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let asker = try HTTPClient(service)
        try asker.send("POST", "/v1/alerts?wait=50s", APITests.question)
        let stream = try HTTPClient(service)
        try stream.follow(after: "0")
        #expect(try stream.event().data == "ok")
        #expect(try stream.event().name == "asked")
        // An echo of the signal changes nothing.
        for signal in [SIGTERM, SIGINT] { service.process.kill(signal) }
        let reply = try asker.reply()
        #expect(reply.status == 202 && reply.json["terminal"] as? Bool == false, "\(reply)")
        let last = try stream.event()
        #expect(last.id == nil && last.name == nil)
        #expect(stream.isClosed())
        #expect(await service.process.exit() == 0)
        #expect(access(service.api, F_OK) != 0)
    }

    @Test("After a kill, a question can be answered, its asker joins it, and streams lack nothing")
    func killed() async throws {
        let first = try await CommandLineQueue.Service(of: queue)
        let stream = try HTTPClient(first)
        try stream.follow(after: nil)
        #expect(try stream.event().data == "ok")
        let asker = try HTTPClient(first)
        #expect(try asker.request("POST", "/v1/alerts", APITests.question).status == 201)
        let seen = try stream.event()
        try asker.send("POST", "/v1/alerts?wait=50s", APITests.question)
        first.process.kill(SIGKILL)
        _ = await first.process.exit()
        #expect(throws: (any Error).self) { try asker.reply() }
        #expect(try await queue.run("notify", "Meanwhile").code == 0)
        let second = try await CommandLineQueue.Service(of: queue)
        let again = try HTTPClient(second)
        try again.send("POST", "/v1/alerts?wait=50s", APITests.question)
        let person = try HTTPClient(second)
        #expect(
            try person.request("POST", "/v1/alerts/1/response", #"{"button":"yes"}"#).status == 200)
        #expect(try again.reply().json["button"] as? String == "yes")
        let resumed = try HTTPClient(second)
        try resumed.follow(after: seen.id)
        #expect(try resumed.event().data == "ok")
        #expect(try resumed.event().name == "asked")
        #expect(try resumed.event().name == "resolved")
        #expect(try await queue.isSound())
    }

    @Test("Streams resume after any entry, get each of them once, and say where the log has a gap")
    func streams() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let live = try HTTPClient(service)
        try live.follow(after: nil)
        let first = try live.event()
        #expect(first.name == "resume" && first.data == "ok" && first.id == "0", "\(first)")
        let asker = try HTTPClient(service)
        var cursors: [String] = []
        for number in 1...40 {
            #expect(
                try asker.request("POST", "/v1/alerts", #"{"title":"Q\#(number)"}"#).status == 201)
            let event = try live.event()
            #expect(event.name == "asked" && event.id?.hasPrefix("\(number):") == true, "\(event)")
            cursors.append(try #require(event.id))
        }
        for start in [0, 1, 17, 39] {
            let late = try HTTPClient(service)
            try late.follow(after: start == 0 ? "0" : cursors[start - 1])
            #expect(try late.event().data == "ok")
            let ids = try (start..<40).map { _ in try late.event().id }
            #expect(ids == Array(cursors[start...]))
        }
        #expect(
            try asker.request("POST", "/v1/alerts/7/withdraw").status == 200)
        #expect(try live.event().name == "resolved")
        let lost = try HTTPClient(service)
        try lost.follow(after: "99:" + String(repeating: "0", count: 64))
        let gap = try lost.event()
        #expect(gap.data == "gap" && gap.id?.hasPrefix("41:") == true, "\(gap)")
        #expect(try asker.request("GET", "/v1/events?after=odd").status == 400)
        #expect(
            try asker.request("GET", "/v1/events?after=odd", nil, ["Last-Event-ID: 0"]).status
                == 400)
        #expect(try asker.request("HEAD", "/v1/events").status == 200)
        #expect(asker.isClosed())
    }

    @Test("A hundred streams get every entry, also those that begin while entries come")
    func manyStreams() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let asker = try HTTPClient(service)
        var streams: [HTTPClient] = []
        for number in 1...100 {
            let stream = try HTTPClient(service)
            try stream.follow(after: "0")
            streams.append(stream)
            #expect(
                try asker.request("POST", "/v1/alerts", #"{"title":"Q\#(number)"}"#).status == 201)
        }
        for stream in streams {
            #expect(try stream.event().name == "resume")
            for number in 1...100 {
                let id = try stream.event().id
                #expect(id?.hasPrefix("\(number):") == true, "\(String(describing: id))")
            }
        }
    }

    @Test("A thousand streams get what comes, and are told to come again", .needsDescriptors(4096))
    func thousandStreams() async throws {
        LinuxProcess.raiseDescriptorLimit()
        let service = try await CommandLineQueue.Service(of: queue)
        let asker = try HTTPClient(service)
        var streams: [HTTPClient] = []
        for _ in 1...1000 {
            let stream = try HTTPClient(service)
            try stream.follow(after: nil)
            #expect(try stream.event().name == "resume")
            streams.append(stream)
        }
        for number in 1...3 {
            let body = #"{"title":"Q\#(number)"}"#
            #expect(try asker.request("POST", "/v1/alerts", body).status == 201)
        }
        for stream in streams {
            let ids = try (1...3).map { _ in try stream.event().id?.prefix { $0 != ":" } }
            #expect(ids == ["1", "2", "3"], "\(ids)")
        }
        service.process.kill(SIGTERM)
        #expect(await service.process.exit() == 0)
        for stream in streams { #expect(try stream.event().name == nil && stream.isClosed()) }
    }

    @Test(
        "A script's service ends each question as it was told to",
        arguments: [
            ("yes", "answered", "go"), ("no", "answered", "stop"), ("expire", "expired", "go"),
        ] as [(String, String, String)])
    func scripted(answer: String, outcome: String, button: String) async throws {
        let service = try queue.start(["serve", "--test", "--answer", answer])
        #expect(await eventually { service.output.text.contains("\n") })
        let line = try JSONSerialization.jsonObject(with: Data(service.output.text.utf8))
        let place = try #require(line as? [String: String])
        let port = try #require(UInt16(place["url"]?.split(separator: ":").last ?? ""))
        let client = try HTTPClient(port: port)
        let policy = answer == "expire" ? #""default":"go","timeout_ms":3600000,"# : ""
        let body =
            #"{"title":"Q",\#(policy)"fields":[{"id":"n","type":"string","required":\#(answer != "expire")}],"buttons":["#
            + #"{"id":"stop","title":"S","role":"cancel"},{"id":"go","title":"G"}]}"#
        let token = ["Authorization: Bearer \(place["token"] ?? "")"]
        let reply = try client.request("POST", "/v1/alerts?wait=30s", body, token)
        #expect(reply.status == 200 && reply.json["outcome"] as? String == outcome, "\(reply)")
        #expect(reply.json["button"] as? String == button, "\(reply)")
        service.kill(SIGTERM)
        #expect(await service.exit() == 0)
    }
}
