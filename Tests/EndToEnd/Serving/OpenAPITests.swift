import AlertService
import Foundation
import ProcessTesting
import TestSupport
import Testing

/// What the description of the API says, against what the service does.
@Suite("The description of the API", .inParallel, .within(.seconds(60)), .needsHTTP)
struct OpenAPITests {
    private typealias Object = [String: any Sendable]

    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("It has each route with its parameters, and no other")
    func routes() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let document = try HTTPClient(service).request("GET", "/v1/openapi.json").json
        #expect(document["openapi"] as? String == "3.1.0")
        let paths = try #require(document["paths"] as? [String: Object])
        let components = document["components"] as? Object
        let shared = components?["parameters"] as? [String: Object] ?? [:]
        let described = paths.flatMap { path, methods in
            methods.map { method, operation in
                let parameters = (operation as? Object)?["parameters"] as? [Object] ?? []
                let names = parameters.compactMap { parameter -> String? in
                    let name = (parameter["$ref"] as? String)?.split(separator: "/").last
                    let whole = name.flatMap { shared[String($0)] } ?? parameter
                    return whole["in"] as? String == "query" ? whole["name"] as? String : nil
                }
                return "\(method.uppercased()) \(path) \(names.sorted())"
            }
        }
        let known = APIRoute.all.map { "\($0.method) \($0.path) \($0.parameters.sorted())" }
        #expect(described.sorted() == known.sorted())
    }

    @Test("It has each member of what the service sends, and no other")
    func members() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let client = try HTTPClient(service)
        let document = try client.request("GET", "/v1/openapi.json").json
        let schemas = (document["components"] as? Object)?["schemas"] as? [String: Object] ?? [:]
        let names = { (schema: String) -> [String] in
            (schemas[schema]?["properties"] as? Object ?? [:]).keys.sorted()
        }
        let question = #"{"title":"Q","buttons":[{"title":"OK"}]}"#
        let asked = try client.request("POST", "/v1/alerts", question).json
        #expect(asked.keys.filter { $0 != "terminal" }.sorted() == names("StoredAlert"))
        let answered = try client.request("POST", "/v1/alerts/1/response", #"{"button":"OK"}"#)
        let responder = answered.json["responder"] as? Object
        #expect(responder?.keys.sorted() == names("Responder"), "\(answered)")
        let log = try client.request("GET", "/v1/audit").json["entries"] as? [Object]
        #expect(log?.first?.keys.sorted() == names("Entry"))
        #expect(try client.request("GET", "/v1/stats").json.keys.sorted() == names("Statistics"))
        let drawing = try client.request("GET", "/v1/stats.svg?source=s")
        #expect(drawing.status == 200 && drawing.fields["content-type"] == "image/svg+xml")
        #expect(drawing.body.hasPrefix("<svg ") && drawing.body.contains("Alerts of “s”"))
        // What can be asked is what a refusal lists.
        let refused = try client.request("POST", "/v1/alerts", #"{"x":1}"#)
        let detail = try #require(refused.json["detail"] as? String)
        let listed = try #require(detail.components(separatedBy: "one of ").last)
        #expect(listed.components(separatedBy: ", ").sorted() == names("Question"), "\(detail)")
    }
}
