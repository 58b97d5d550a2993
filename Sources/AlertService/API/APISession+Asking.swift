import AlertCore
import FoundationEssentials
import TextFormats

extension APISession {
    func ask(_ request: APIRequest) async throws -> APIReply {
        let (limit, isCollecting) = (try request.wait(), try request.isCollecting())
        let question = try await submit(request, isAwaited: limit != nil)
        guard let limit, question.record.response == nil else {
            let isNew = !question.isJoined && question.record.response == nil
            return try reply(
                try await usable(question.record), status: isNew ? 201 : 200, to: request,
                collecting: isCollecting)
        }
        if let record = try await queue.waits.wait(
            atMost: limit, by: caller.principal, for: { try await question.outcome() })
        {
            return try reply(try await usable(record), to: request, collecting: isCollecting)
        }
        return try await stillWaiting(question.record.id, request, collecting: isCollecting)
    }

    /// Asks what the body says, which isn't kept while its request waits.
    private func submit(
        _ request: APIRequest, isAwaited: Bool
    ) async throws -> PendingQuestion {
        let body = try request.members(Self.alertMembers)
        let alert = try Self.alert(body)
        if request.wantsText { try Self.checkWords(alert) }
        let name = try request.idempotencyKey()
        let question = try await manager.submit(
            alert, isAwaited: isAwaited, join: try body.isTrue("replace") ? .replacing : .same,
            request: name)
        if name != nil { try Self.check(question.record, isOf: alert) }
        return question
    }

    /// Refuses a question that has the `Idempotency-Key` of another one.
    private static func check(_ record: AlertRecord, isOf alert: Alert) throws(Problem) {
        let isSame =
            record.source.name.isIdentical(to: alert.source ?? Self.source)
            && record.alert.key.isIdentical(to: alert.key)
            && (record.isErased || alert.firstDifference(from: record.alert) == nil)
        guard isSame else { throw .keyReused(record.id) }
    }

    /// Refuses a question whose answer, as a word, could be taken for something else.
    private static func checkWords(_ alert: Alert) throws(Problem) {
        for id in alert.buttons.map(\.id) {
            let taken = Outcome.allCases.map(\.rawValue) + ["waiting", "recorded"]
            guard !taken.contains(id.lowercased()) else {
                throw .badRequest(
                    "as text/plain, “\(SafeText.line(id))” could be a button or an outcome: give "
                        + "the button another id, or accept application/json")
            }
            guard !id.unicodeScalars.contains(where: Self.isSpaceOrControl) else {
                throw .badRequest(
                    "as text/plain, the id “\(SafeText.line(id))” is not one word: give the button "
                        + "an id without spaces, or accept application/json")
            }
        }
    }

    private static func isSpaceOrControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isWhitespace
        }
    }

    /// A record whose answer, if it has one, may still be used.
    func usable(_ record: AlertRecord) async throws -> AlertRecord {
        guard record.response?.isStale == true else { return record }
        try await manager.collectStale(record)
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
            guard button.members != nil else {
                throw .badRequest(
                    "“buttons[\(index)]” is no object, such as {\"id\":\"yes\",\"title\":\"Yes\"}")
            }
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
        for name in AlertProperty.terms.map(\.name) + ["timeout_ms"] { _ = try body.length(name) }
        do {
            return try JSONDecoder().decode(Alert.self, from: Data(try body.text().utf8))
        } catch let error as DecodingError {
            throw .badRequest(error.reason)
        } catch {
            throw .badRequest("the body can't be read: \(error)")
        }
    }

    private static let buttonMembers = ["id", "title", "role"]
}
