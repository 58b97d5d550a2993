/// A request that the API knows. `openapi.json` describes each.
package struct APIRoute: Sendable {
    package let method: String
    /// As OpenAPI writes it, with `{id}` for the number of an alert.
    package let path: String
    /// The parameters of its query.
    package let parameters: [String]
    let run: @Sendable (APISession, APIRequest) async throws -> APIReply

    private init(
        _ method: String, _ path: String, _ parameters: [String] = [],
        _ run: @escaping @Sendable (APISession, APIRequest) async throws -> APIReply
    ) {
        (self.method, self.path, self.parameters, self.run) = (method, path, parameters, run)
    }

    package static let all = [
        APIRoute("POST", "/v1/alerts", ["wait", "collect"]) { try await $0.ask($1) },
        APIRoute(
            "GET", "/v1/alerts",
            [
                "state", "source", "key", "text", "outcome", "since", "until", "uncollected",
                "after", "limit",
            ]
        ) { try await $0.list($1) },
        APIRoute("GET", "/v1/alerts/{id}", ["wait"]) { try await $0.show($1) },
        APIRoute("GET", "/v1/alerts/{id}/receipt", ["head"]) { try await $0.receipt($1) },
        APIRoute("POST", "/v1/alerts/{id}/response") { try await $0.answer($1) },
        APIRoute("POST", "/v1/alerts/{id}/withdraw") { try await $0.withdraw($1) },
        APIRoute("POST", "/v1/alerts/{id}/cancel") { try await $0.cancel($1) },
        APIRoute("POST", "/v1/alerts/{id}/collect") { try await $0.collect($1) },
        APIRoute("POST", "/v1/alerts/{id}/claim") { try await $0.claim($1) },
        APIRoute("POST", "/v1/alerts/{id}/snooze") { try await $0.snooze($1) },
        APIRoute("GET", "/v1/events", ["after"]) { try await $0.events($1) },
        APIRoute("GET", "/v1/audit", ["after", "limit", "wait"]) { try await $0.audit($1) },
        APIRoute("GET", "/v1/stats", ["source", "since", "until"]) { try await $0.stats($1) },
        APIRoute("GET", "/v1/stats.svg", ["source", "since", "until"]) {
            try await $0.drawing($1)
        },
        APIRoute("GET", "/v1/metrics") { try await $0.metrics($1) },
        APIRoute("GET", "/v1/health") { try await $0.health($1) },
        APIRoute("GET", "/v1/openapi.json") { session, _ in session.document() },
    ]

    /// The route of a request, whose parameters it has.
    ///
    /// - Throws: ``Problem`` for a path that is none, and for another method or parameter.
    static func of(_ request: APIRequest) throws(Problem) -> APIRoute {
        let found = all.filter { $0.matches(request.path) }
        guard !found.isEmpty else { throw .noRoute("/" + request.path.joined(separator: "/")) }
        guard let route = found.first(where: { $0.method == request.method }) else {
            throw .methodNotAllowed(request.method, allowed: found.map(\.method))
        }
        guard route.method != "GET" || !request.hasBody else {
            throw .badRequest("GET has no body")
        }
        try request.allow(route.parameters)
        return route
    }

    private func matches(_ parts: [String]) -> Bool {
        let own = path.split(separator: "/")
        return own.count == parts.count
            && zip(own, parts).allSatisfy { $0 == "{id}" || $0.utf8.elementsEqual($1.utf8) }
    }
}
