import AlertCore
import FoundationEssentials
import TextFormats

extension APISession {
    /// Entries of the log after one; if there are none, those that come while it waits.
    func audit(_ request: APIRequest) async throws -> APIReply {
        let (limit, time) = (try request.limit(), try request.wait())
        let cursor = try request.cursor() ?? .start
        var entries = try await queue.store.entries(after: cursor, limit: limit)
        if entries.isEmpty, let time {
            _ = try await queue.waits.wait(atMost: time, by: caller.principal) {
                for try await _ in try await self.manager.events(after: cursor) { return }
            }
            entries = try await queue.store.entries(after: cursor, limit: limit)
        }
        let last = entries.last?.event.cursor ?? cursor
        return APIReply(
            200,
            .object([
                ("entries", .array(entries.map(AlertJSON.value))),
                ("cursor", .string(last.cursor)),
            ]))
    }

    /// The entries of the log after one, and those that come, for as long as the client reads.
    func events(_ request: APIRequest) async throws -> APIReply {
        guard request.isHTTP else {
            throw Problem.notAcceptable(
                "this is a stream of HTTP: on lines, use /v1/audit?after=CURSOR&wait=50s")
        }
        return APIReply(
            200,
            following: try await queue.feed.follow(
                after: try request.streamCursor(), for: caller.principal))
    }

    func stats(_ request: APIRequest) async throws -> APIReply {
        let (statistics, query, _) = try await counted(request)
        return APIReply(
            200,
            AlertJSON.value(
                statistics, source: query.source, since: query.since, until: query.until))
    }

    /// The same as a picture.
    func drawing(_ request: APIRequest) async throws -> APIReply {
        let (statistics, query, days) = try await counted(request)
        let title = query.source.map { "Alerts of “\($0)”" } ?? "Alerts"
        var reply = APIReply(
            200, text: StatisticsDrawing(statistics, days, title: title).svg, as: "image/svg+xml")
        // It has a style of its own, and nothing that a browser would run or load.
        reply.headers.append(
            ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"))
        return reply
    }

    /// The numbers that a request asks for.
    private func counted(
        _ request: APIRequest
    ) async throws -> (AlertStatistics, StatisticsQuery, StatisticsDays) {
        var query = StatisticsQuery(
            source: try request.source(), since: try request.time("since"),
            until: try request.time("until"))
        let days = StatisticsDays(since: query.since, until: query.until, now: Date())
        query.days = days.bounds
        return (try await queue.store.statistics(query) { _, _ in }, query, days)
    }

    /// The same as a whole, as <https://prometheus.io/docs/specs/om/open_metrics_spec/> has it.
    func metrics(_ request: APIRequest) async throws -> APIReply {
        let metrics = PrometheusText(
            try await manager.statistics(), screens: try await manager.screens().forAll.count,
            head: try await manager.auditHead()?.sequence ?? 0, now: Date(), form: .openMetrics)
        return APIReply(
            200, text: metrics.text,
            as: "application/openmetrics-text; version=1.0.0; charset=utf-8")
    }

    func health(_ request: APIRequest) async throws -> APIReply {
        let waiting = try await manager.pendingCount()
        return APIReply(
            200,
            .object([
                ("ready", .bool(true)), ("queue", .string(queue.place)),
                ("waiting", .integer(Int64(waiting))),
            ]))
    }
}
