import AlertCore
import FoundationEssentials
import TextFormats

extension APISession {
    func list(_ request: APIRequest) async throws -> APIReply {
        if let key = request.parameter("key") {
            try request.allow(["key", "source"])
            let source = try request.source() ?? Self.source
            return Self.reply([try await manager.record(key: key, of: source)])
        }
        let limit = try request.limit()
        let after = try request.parameter("after").map { text throws(Problem) in
            try request.id(text)
        }
        let records: [AlertRecord]
        if (request.parameter("state") ?? "waiting") == "waiting" {
            try request.allow(["state", "source", "after", "limit"])
            records = try await manager.pending(
                source: try request.source(), after: after, limit: limit)
        } else {
            try request.allow([
                "state", "source", "text", "outcome", "since", "until", "uncollected", "after",
                "limit",
            ])
            records = try await manager.history(
                try Self.filter(request), limit: limit, after: after)
        }
        guard records.count == limit, let last = records.last else { return Self.reply(records) }
        let next = request.target(setting: "after", to: "\(last.id)")
        return Self.reply(records, headers: [("Link", "<\(next)>; rel=\"next\"")])
    }

    private static func reply(
        _ records: [AlertRecord], headers: [(name: String, value: String)] = []
    ) -> APIReply {
        APIReply(
            200, .object([("alerts", .array(records.map(AlertJSON.value)))]), headers: headers)
    }

    private static func filter(_ request: APIRequest) throws(Problem) -> HistoryFilter {
        guard request.parameter("state") == "resolved" else {
            throw .badRequest("“state” is neither waiting nor resolved")
        }
        var filter = HistoryFilter()
        filter.source = try request.source()
        filter.text = request.parameter("text")
        guard (filter.text?.utf8.count ?? 0) <= Alert.Limit.title else {
            throw .badRequest("“text” has more than \(Alert.Limit.title) bytes")
        }
        filter.since = try request.time("since")
        filter.until = try request.time("until")
        filter.uncollected = try request.isTrue("uncollected")
        if let word = request.parameter("outcome") {
            guard let outcome = Outcome(rawValue: word) else {
                throw .unknown("outcome", word, known: Outcome.allCases.map(\.rawValue))
            }
            filter.outcome = outcome
        }
        return filter
    }

    func show(_ request: APIRequest) async throws -> APIReply {
        let id = try request.id()
        guard let limit = try request.wait() else {
            return try reply(try await manager.record(id), to: request)
        }
        let found = try await queue.waits.wait(atMost: limit) {
            try await self.manager.resolution(of: id)
        }
        if let found { return try reply(found, to: request) }
        return try await stillWaiting(id, request)
    }

    /// How many entries the chain of a receipt may have.
    private static let chainLimit: Int64 = 10_000

    func receipt(_ request: APIRequest) async throws -> APIReply {
        let receipt = try await manager.receipt(
            of: try request.id(), through: try request.head(), atMost: Self.chainLimit)
        return APIReply(200, receipt.json)
    }

    /// The reply when the time is up, after which the same request goes on waiting.
    func stillWaiting(_ id: Alert.ID, _ request: APIRequest) async throws -> APIReply {
        var reply = try reply(try await manager.record(id), status: 202, to: request)
        reply.headers.append(("Retry-After", "1"))
        return reply
    }

    /// The reply with an alert, in the form that the request wants.
    func reply(
        _ record: AlertRecord, status: Int = 200, to request: APIRequest
    ) throws -> APIReply {
        // An expiry that is due and not stored yet may still become something else.
        let response = record.response
        let isOver = response != nil && record.isStored
        var reply: APIReply
        if request.wantsText {
            if response?.isStale == true { throw AlertError.stale(record) }
            reply = APIReply(
                status, text: Self.word(of: record, isOver: isOver) + "\n", as: "text/plain")
        } else {
            reply = APIReply(
                status,
                .object((AlertJSON.value(record).members ?? []) + [("terminal", .bool(isOver))]))
        }
        if status != 200 { reply.headers.append(("Location", request.location(of: record.id))) }
        if isOver, try request.isCollecting() { reply.collected = record.id }
        return reply
    }

    /// What became of an alert, in a word: the id of the button that somebody chose, else the outcome
    /// in capital letters.
    private static func word(of record: AlertRecord, isOver: Bool) -> String {
        guard isOver, let response = record.response else { return "WAITING" }
        // A default that was applied is nobody's choice, nor is the cancel button of what was cancelled.
        return (response.outcome == .answered ? response.button.flatMap(record.id(of:)) : nil)
            ?? response.outcome.rawValue.uppercased()
    }
}
