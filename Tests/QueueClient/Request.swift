import AlertQueue
import Foundation

/// One line of standard input.
struct Request {
    /// The error of a request that can't be understood.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    let fields: [String: any Sendable]

    init?(_ line: String) {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let fields = object as? [String: any Sendable] else { return nil }
        self.fields = fields
    }

    func text(_ name: String) throws -> String {
        guard let text = fields[name] as? String else { throw Mistake("no text “\(name)”") }
        return text
    }

    func number(_ name: String) throws -> Int64 {
        guard let number = fields[name] as? Int else { throw Mistake("no number “\(name)”") }
        return Int64(number)
    }

    func duration(_ name: String) -> Duration? {
        (fields[name] as? Int).map { .milliseconds($0) }
    }

    var limit: Int { fields["limit"] as? Int ?? 100 }

    func run(on manager: AlertManager) async throws -> sending [String: Any] {
        switch try text("do") {
        case "ask":
            let asked = try await manager.submit(alert())
            var reply = Reply.alert(asked.record)
            reply["joined"] = asked.isJoined
            return reply
        case "answer":
            return Reply.alert(try await manager.answer(number("id"), button: text("button")))
        case "withdraw": return Reply.alert(try await manager.withdraw(number("id")))
        case "cancel": return Reply.alert(try await manager.cancel(number("id")))
        case "snooze":
            return Reply.alert(try await manager.snooze(number("id"), for: duration("for")))
        case "collect":
            try await manager.collect(number("id"))
            return Reply.alert(try await manager.record(number("id")))
        case "record":
            if let key = fields["key"] as? String {
                return Reply.alert(try await manager.record(key: key))
            }
            return Reply.alert(try await manager.record(number("id")))
        case "wait": return Reply.alert(try await manager.resolution(of: number("id")))
        case "list":
            return ["alerts": try await manager.pending(limit: limit).map(Reply.alert)]
        case "history":
            return ["alerts": try await manager.history(limit: limit).map(Reply.alert)]
        case "count": return ["count": try await manager.pendingCount()]
        case "verify":
            let report = try await manager.verifyAudit()
            return ["entries": report.entries, "problems": report.problems.map { "\($0)" }]
        case "head":
            guard let head = try await manager.auditHead() else { return ["sequence": 0] }
            return ["sequence": head.sequence, "hash": head.hash.map { Int($0) }]
        case "play":
            var play = try Play(self, on: manager)
            try await play.run()
            return [:]
        case "crowd": return try await Crowd(self, on: manager).run()
        case let verb: throw Mistake("unknown request “\(verb)”")
        }
    }

    private func alert() throws -> Alert {
        var alert = Alert(try text("title"), message: fields["message"] as? String)
        let buttons = fields["buttons"] as? [String] ?? ["yes", "no"]
        alert.buttons = buttons.map { $0 == "no" ? .cancel($0) : Alert.Button($0) }
        alert.deadline = duration("timeout").map { .after($0) }
        alert.snooze = duration("snooze")
        alert.defaultButton = fields["default"] as? String
        alert.key = fields["key"] as? String
        alert.source = fields["source"] as? String
        alert.handler = fields["handler"] as? String
        if let word = fields["priority"] as? String {
            let known = Alert.Priority.allCases.first { "\($0)" == word }
            guard let known else { throw Mistake("unknown priority “\(word)”") }
            alert.priority = known
        }
        return alert
    }
}
