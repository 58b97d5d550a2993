import AlertCore
import FoundationEssentials
import Synchronization
import TextFormats

/// What one caller does through the API: each request is carried out on the caller's behalf, and
/// replied to.
package final class APISession: Sendable {
    /// The name of the API in the log.
    private static let via = "api"
    /// Whose alerts these are if their asker doesn't say.
    private static let source = "api"

    private let store: any AlertStore
    private let place: String
    private let caller: Caller
    private let manager: AlertManager
    private let waits = Mutex(Waits())

    private struct Waits {
        /// What ends each of them.
        var tasks: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
        /// Whether no request waits any longer.
        var isOver = false
    }

    /// - Parameters:
    ///   - store: The queue, which stays open.
    ///   - place: Where it is.
    ///   - peer: Who calls.
    package init(
        _ store: any AlertStore, at place: String, for peer: Peer
    ) async throws(AlertError) {
        self.store = store
        self.place = place
        caller = try peer.caller(via: Self.via)
        manager = try await AlertManager(
            store: store, path: place, source: Self.source, caller: caller, presenters: [],
            delegate: nil, clock: .system)
    }

    /// Has all requests that wait replied to as if their time was up: the service ends.
    package func stopWaiting() {
        let tasks = waits.withLock { waits in
            waits.isOver = true
            return waits.tasks.values.map { $0 }
        }
        for end in tasks { end() }
    }

    /// Waits for what a closure returns, for so long at most, or until waiting is over; `nil` then.
    private func wait<Found: Sendable>(
        atMost limit: Duration, for body: @escaping @Sendable () async throws -> Found
    ) async throws -> Found? {
        let task = Task {
            try await withThrowingTaskGroup(of: Found?.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    try await Task.sleep(for: limit)
                    return nil
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
        }
        let number = waits.withLock { waits in
            if waits.isOver { task.cancel() }
            waits.last += 1
            waits.tasks[waits.last] = { task.cancel() }
            return waits.last
        }
        defer { waits.withLock { _ = $0.tasks.removeValue(forKey: number) } }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch let error as CancellationError {
            guard waits.withLock({ $0.isOver }) else { throw error }
            return nil
        }
    }

    /// Carries out a request; the reply says also why it could not be.
    package func reply(to request: APIRequest) async -> APIReply {
        do {
            return try await route(request)
        } catch let problem as Problem {
            return problem.reply
        } catch let error as AlertError {
            return Problem(error).reply
        } catch {
            return Problem(AlertError.cancelled("the request")).reply
        }
    }

    private func route(_ request: APIRequest) async throws -> APIReply {
        guard request.path.first == "v1" else { throw Self.noRoute(request) }
        switch Array(request.path.dropFirst()) {
        case ["alerts"]:
            switch request.method {
            case "POST": return try await ask(request)
            case "GET": return try await list(request)
            default: throw Problem.methodNotAllowed(request.method, allowed: ["GET", "POST"])
            }
        case let path where path.count == 2 && path[0] == "alerts":
            try request.require("GET")
            return try await show(request.id(path[1]), request)
        case let path where path.count == 3 && path[0] == "alerts":
            guard let action = Action(rawValue: path[2]) else { throw Self.noRoute(request) }
            try request.require("POST")
            return try await act(action, on: request.id(path[1]), request)
        case ["events"]:
            try request.require("GET")
            return try await events(request)
        case ["health"]:
            try request.require("GET")
            return try await health(request)
        default: throw Self.noRoute(request)
        }
    }

    private static func noRoute(_ request: APIRequest) -> Problem {
        .notFound("there is no route /" + SafeText.line(request.path.joined(separator: "/")))
    }

    // MARK: - Asking

    private func ask(_ request: APIRequest) async throws -> APIReply {
        try request.allow("wait")
        let limit = try request.wait()
        let body = try request.members(Self.alertMembers)
        let question = try await manager.submit(
            try Self.alert(body), isAwaited: limit != nil,
            join: try body.isTrue("replace") ? .replacing : .same)
        guard let limit, question.record.response == nil else {
            return Self.reply(
                try await usable(question.record), status: question.isJoined ? 200 : 201)
        }
        if let record = try await wait(atMost: limit, for: { try await question.outcome() }) {
            return Self.reply(try await usable(record))
        }
        return try await stillWaiting(question.record.id)
    }

    /// A record whose answer, if it has one, may still be used.
    private func usable(_ record: AlertRecord) async throws -> AlertRecord {
        guard record.response?.isStale == true else { return record }
        await manager.collectStale(record)
        throw AlertError.stale(record)
    }

    private static let alertMembers =
        ["source"] + AlertProperty.all.map(\.name) + ["timeout_ms", "expires_at", "replace"]

    /// The alert that a body describes, as `alertq show --json` prints one.
    private static func alert(_ body: JSONValue) throws(Problem) -> Alert {
        guard body["expires_at"] == nil || body["timeout_ms"] == nil else {
            throw .badRequest("“expires_at” and “timeout_ms” are two deadlines; give one of them")
        }
        for (index, button) in (body["buttons"]?.elements ?? []).enumerated() {
            for (name, _) in button.members ?? [] where !buttonMembers.contains(name) {
                throw .unknown("member of buttons[\(index)]", name, known: buttonMembers)
            }
            guard button["title"]?.string != nil else {
                throw .badRequest("“buttons[\(index)].title” is missing")
            }
        }
        for (index, field) in (body["fields"]?.elements ?? []).enumerated() {
            if let isRequired = field["required"], case .bool = isRequired { continue }
            guard field["required"] == nil else {
                throw .badRequest("“fields[\(index)].required” is not true or false")
            }
        }
        do {
            return try JSONDecoder().decode(Alert.self, from: Data(try body.text().utf8))
        } catch let error as DecodingError {
            throw .badRequest(error.reason)
        } catch {
            throw .badRequest("the body can't be read: \(error)")
        }
    }

    private static let buttonMembers = ["id", "title", "role"]

    // MARK: - Reading

    private func list(_ request: APIRequest) async throws -> APIReply {
        if let key = request.parameter("key") {
            try request.allow("key", "source")
            let source = request.parameter("source") ?? Self.source
            return Self.reply([try await manager.record(key: key, of: source)])
        }
        let limit = try request.limit()
        let after = try request.parameter("after").map { text throws(Problem) in
            try request.id(text)
        }
        let records: [AlertRecord]
        if (request.parameter("state") ?? "waiting") == "waiting" {
            try request.allow("state", "source", "after", "limit")
            records = try await manager.pending(
                source: request.parameter("source"), after: after, limit: limit)
        } else {
            try request.allow(
                "state", "source", "text", "outcome", "since", "until", "uncollected", "after",
                "limit")
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
        filter.source = request.parameter("source")
        filter.text = request.parameter("text")
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

    private func show(_ id: Alert.ID, _ request: APIRequest) async throws -> APIReply {
        try request.allow("wait")
        guard let limit = try request.wait() else {
            return Self.reply(try await manager.record(id))
        }
        let found = try await wait(atMost: limit) { [manager] in
            try await manager.resolution(of: id)
        }
        if let found { return Self.reply(found) }
        return try await stillWaiting(id)
    }

    /// The reply when the time is up, after which the same request goes on waiting.
    private func stillWaiting(_ id: Alert.ID) async throws -> APIReply {
        var reply = Self.reply(try await manager.record(id), status: 202)
        reply.headers.append(("Retry-After", "1"))
        return reply
    }

    private static func reply(_ record: AlertRecord, status: Int = 200) -> APIReply {
        guard case .object(let members) = AlertJSON.value(record) else {
            return APIReply(status, .null)
        }
        // An expiry that is due and not stored yet may still become something else.
        let isOver = JSONValue.bool(record.response != nil && record.isStored)
        return APIReply(
            status, .object(members + [("terminal", isOver)]),
            headers: status == 200 ? [] : [("Location", "/v1/alerts/\(record.id)")])
    }

    // MARK: - Deciding

    private enum Action: String {
        case response, withdraw, cancel, collect, snooze
    }

    private func act(
        _ action: Action, on id: Alert.ID, _ request: APIRequest
    ) async throws -> APIReply {
        try request.allow()
        switch action {
        case .response: return try await answer(id, request)
        case .withdraw:
            let body = try request.members(["force", "because"])
            let (isForced, reason) = (try body.isTrue("force"), try body.text("because"))
            return Self.reply(
                try await again(
                    id, if: { $0.outcome == .withdrawn && $0.note.isIdentical(to: reason) }
                ) {
                    try await manager.withdraw(id, force: isForced, because: reason)
                })
        case .cancel:
            let isForced = try request.members(["force"]).isTrue("force")
            return Self.reply(
                try await again(id, if: { $0.outcome == .cancelled }) {
                    try await manager.cancel(id, force: isForced)
                })
        case .collect:
            _ = try request.members([])
            let record = try await manager.record(id)
            guard record.response != nil else { throw Problem.stillWaiting(id) }
            _ = try await usable(record)
            try await manager.collect(id)
            return Self.reply(try await manager.record(id))
        case .snooze:
            let body = try request.members(["for_ms"])
            let length = body["for_ms"].map { $0.integer.map { Duration.milliseconds($0) } }
            if case .some(.none) = length {
                throw Problem.badRequest("“for_ms” is not a number of milliseconds")
            }
            return Self.reply(try await manager.snooze(id, for: length ?? nil))
        }
    }

    private func answer(_ id: Alert.ID, _ request: APIRequest) async throws -> APIReply {
        let body = try request.members(["button", "values", "note", "seen"])
        guard let button = try body.text("button") else {
            throw Problem.badRequest("“button” is missing: the id of the button that is chosen")
        }
        let record = try await manager.record(id)
        var input = Alert.Input(note: try body.text("note"))
        if let values = body["values"] {
            guard let members = values.members else {
                throw Problem.badRequest("“values” is no object with the values of fields")
            }
            let fields = record.alert.fields
            for (name, value) in members {
                guard let field = fields.first(where: { $0.id.isIdentical(to: name) }) else {
                    throw Problem.unknown("value", name, known: fields.map(\.id))
                }
                input.values[field.id] = try field.value(json: value)
            }
        }
        let (seen, given) = (try body.text("seen"), input)
        return Self.reply(
            try await again(id, if: { $0.isAnswer(button, given, to: record, seen: seen) }) {
                try await manager.answer(id, button: button, seen: seen, input: given)
            })
    }

    /// Makes a change, or finds that this caller has made it already: a reply may have been lost.
    private func again(
        _ id: Alert.ID, if isSame: (Response) -> Bool,
        _ change: () async throws -> AlertRecord
    ) async throws -> AlertRecord {
        do {
            return try await change()
        } catch AlertError.alreadyResolved(let response)
            where response.responder?.principal == caller.principal && isSame(response)
        {
            return try await manager.record(id)
        }
    }

    // MARK: - Events

    /// Entries of the log after one; if there are none, those that come while it waits.
    private func events(_ request: APIRequest) async throws -> APIReply {
        try request.allow("after", "limit", "wait")
        let (limit, time) = (try request.limit(), try request.wait())
        var cursor = AuditHead.start
        if let text = request.parameter("after"), text != "0" {
            guard let head = AuditHead(text) else {
                throw Problem.badRequest("“after” is no cursor, SEQUENCE:HASH, nor 0")
            }
            cursor = head
        }
        var entries = try await store.entries(after: cursor, limit: limit)
        if entries.isEmpty, let time {
            _ = try await wait(atMost: time) { [manager, cursor] in
                for try await _ in manager.events(after: cursor) { return }
            }
            entries = try await store.entries(after: cursor, limit: limit)
        }
        let last = entries.last?.event.cursor ?? cursor
        return APIReply(
            200,
            .object([
                ("events", .array(entries.map(AlertJSON.value))),
                ("cursor", .string(last.sequence > 0 ? last.text : "0")),
            ]))
    }

    private func health(_ request: APIRequest) async throws -> APIReply {
        try request.allow()
        return APIReply(
            200,
            .object([
                ("ready", .bool(true)), ("queue", .string(place)),
                ("waiting", .integer(Int64(try await manager.pendingCount()))),
            ]))
    }
}

extension APIRequest {
    /// Refuses other methods.
    fileprivate func require(_ method: String) throws(Problem) {
        guard self.method == method else {
            throw .methodNotAllowed(self.method, allowed: [method])
        }
    }
}

extension Response {
    /// Whether it is this answer to an alert.
    fileprivate func isAnswer(
        _ id: String, _ given: Alert.Input, to record: AlertRecord, seen: String?
    ) -> Bool {
        guard outcome == .answered, let button, record.id(of: button).isIdentical(to: id),
            seen == nil || seen.isIdentical(to: record.seen)
        else { return false }
        let whole = try? record.alert.completed(given, buttonAt: buttonIndex)
        return (whole ?? given) == input
    }
}

extension DecodingError {
    /// What is wrong, and where.
    fileprivate var reason: String {
        let (context, missing): (Context, String?) =
            switch self {
            case .keyNotFound(let key, let context): (context, key.stringValue)
            case .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                (context, nil)
            @unknown default: (Context(codingPath: [], debugDescription: "\(self)"), nil)
            }
        let place = context.codingPath.map { key in
            key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
        }.joined().drop { $0 == "." }
        if let missing {
            return "“\(place.isEmpty ? "" : place + ".")\(missing)” is missing"
        }
        return (place.isEmpty ? "" : "“\(place)”: ") + context.debugDescription
    }
}
