import AlertCore
import FoundationEssentials
import TextFormats

extension APISession {
    func withdraw(_ request: APIRequest) async throws -> APIReply {
        let id = try request.id()
        let body = try request.members(["force", "because"])
        let (isForced, reason) = (try body.isTrue("force"), try body.text("because"))
        return try reply(
            try await again(
                id, if: { $0.outcome == .withdrawn && $0.note.isIdentical(to: reason) }
            ) {
                try await manager.withdraw(id, force: isForced, because: reason)
            }, to: request)
    }

    func cancel(_ request: APIRequest) async throws -> APIReply {
        let id = try request.id()
        let isForced = try request.members(["force"]).isTrue("force")
        return try reply(
            try await again(id, if: { $0.outcome == .cancelled }) {
                try await manager.cancel(id, force: isForced)
            }, to: request)
    }

    func collect(_ request: APIRequest) async throws -> APIReply {
        let id = try request.id()
        _ = try request.members([])
        let record = try await manager.record(id)
        guard record.response != nil else { throw Problem.stillWaiting(id) }
        _ = try await usable(record)
        return try reply(try await manager.collect(id, because: nil).record, to: request)
    }

    func snooze(_ request: APIRequest) async throws -> APIReply {
        let id = try request.id()
        let length = try request.members(["for_ms"]).length("for_ms")
        return try reply(try await manager.snooze(id, for: length), to: request)
    }

    func claim(_ request: APIRequest) async throws -> APIReply {
        let id = try request.id()
        let body = try request.members(["for_ms", "release", "force"])
        let (length, isForced) = (try body.length("for_ms"), try body.isTrue("force"))
        guard try body.isTrue("release") else {
            return try reply(
                try await manager.claim(id, for: length ?? AlertClaim.length, force: isForced),
                to: request)
        }
        guard length == nil else {
            throw Problem.badRequest("“for_ms” says how long a claim lasts, and “release” ends it")
        }
        return try reply(try await manager.release(id, force: isForced), to: request)
    }

    func answer(_ request: APIRequest) async throws -> APIReply {
        let id = try request.id()
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
                    guard !fields.isEmpty else {
                        throw Problem.badRequest("alert \(id) has no fields, and takes no values")
                    }
                    throw Problem.unknown("value", name, known: fields.map(\.id))
                }
                input.values[field.id] = try field.value(json: value)
            }
        }
        let (seen, given) = (try body.text("seen"), input)
        return try reply(
            try await again(id, if: { $0.isAnswer(button, given, to: record, seen: seen) }) {
                try await manager.answer(id, button: button, seen: seen, input: given)
            }, to: request)
    }

    /// Makes a change, or finds that this caller has made it already: a reply may have been lost.
    func again(
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
