import AlertCore
import FoundationEssentials
import TextFormats

extension APISession {
    func list(_ request: APIRequest) async throws -> APIReply {
        if let key = request.parameter("key") {
            try request.allow(["key", "source"])
            let source = try request.source() ?? Self.source
            var page = Page()
            do {
                page.add(try await manager.record(key: key, of: source))
            } catch {
                guard case AlertError.keyNotFound = error else { throw error }
                throw Problem.notFound(
                    "no alert of yours with the source “\(SafeText.line(source))” has the key "
                        + "“\(SafeText.line(key))”; name another source with “source”")
            }
            return page.reply()
        }
        let limit = try request.limit()
        let after = try request.parameter("after").map { text throws(Problem) in
            try request.id(text)
        }
        let manager = try await manager
        var page = Page()
        if (request.parameter("state") ?? "waiting") == "waiting" {
            try request.allow(["state", "source", "after", "limit"])
            let source = try request.source()
            try await page.fill(limit, after: after) {
                try await manager.pending(source: source, after: $0, limit: $1)
            }
        } else {
            try request.allow([
                "state", "source", "text", "outcome", "since", "until", "uncollected", "after",
                "limit",
            ])
            let filter = try Self.filter(request)
            try await page.fill(limit, after: after) {
                try await manager.history(filter, limit: $1, after: $0)
            }
        }
        guard let next = page.next else { return page.reply() }
        let target = request.target(setting: "after", to: "\(next)")
        return page.reply(headers: [("Link", "<\(target)>; rel=\"next\"")])
    }

    /// Alerts, as many as were wanted or as a reply has room for.
    private struct Page {
        /// How many bytes it may have before it ends.
        private static let room = 4 << 20
        /// How many alerts are in memory at a time.
        private static let part = 100

        private var alerts: [JSONValue] = []
        private var size = 0
        /// The alert after which the next page begins; `nil` at the end.
        private(set) var next: Alert.ID?

        /// - Parameter read: Reads so many alerts after one at most.
        mutating func fill(
            _ limit: Int, after start: Alert.ID?,
            _ read: (_ after: Alert.ID?, _ limit: Int) async throws -> [AlertRecord]
        ) async throws {
            next = start
            while alerts.count < limit, size < Self.room {
                let wanted = min(limit - alerts.count, Self.part)
                let records = try await read(next, wanted)
                for record in records { add(record) }
                next = records.count == wanted ? records.last?.id : nil
                guard next != nil else { return }
            }
        }

        mutating func add(_ record: AlertRecord) {
            let value = AlertJSON.value(record)
            size += value.line.utf8.count
            alerts.append(value)
        }

        func reply(headers: [(name: String, value: String)] = []) -> APIReply {
            APIReply(
                200, .object([("alerts", .array(alerts)), ("next", .optional(next))]),
                headers: headers)
        }
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
        let found = try await queue.waits.wait(atMost: limit, by: caller.principal) {
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
    func stillWaiting(
        _ id: Alert.ID, _ request: APIRequest, collecting: Bool = false
    ) async throws -> APIReply {
        var reply = try reply(
            try await manager.record(id), status: 202, to: request, collecting: collecting)
        reply.headers.append(("Retry-After", "1"))
        return reply
    }

    /// The reply with an alert, in the form that the request wants.
    ///
    /// - Parameter isCollecting: Whether a response counts as taken once it has arrived.
    func reply(
        _ record: AlertRecord, status: Int = 200, to request: APIRequest,
        collecting isCollecting: Bool = false
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
        if isOver, isCollecting { reply.collected = record.id }
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
