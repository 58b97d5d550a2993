import AlertQueue
import Foundation

/// One line of standard output.
enum Reply {
    static func alert(_ record: AlertRecord) -> [String: Any] {
        var fields: [String: Any] = [
            "id": record.id, "title": record.alert.title, "state": record.state.rawValue,
            "buttons": record.alert.buttons.map(\.id), "snoozes": record.snoozes,
            "priority": "\(record.alert.priority)", "isSnoozed": record.snoozedUntil != nil,
            "source": record.source.name,
        ]
        fields["key"] = record.alert.key
        if let response = record.response { fields.merge(ending(response)) { $1 } }
        return fields
    }

    private static func ending(_ response: Response) -> [String: Any] {
        var fields: [String: Any] = [
            "alert": response.alertID, "outcome": response.outcome.rawValue,
            "index": response.buttonIndex, "by": response.by.rawValue,
            "collected": response.collectedAt != nil,
        ]
        fields["button"] = response.button?.id
        fields["pid"] = response.responder?.process.map { Int($0.pid) }
        fields["via"] = response.responder?.via
        return fields
    }

    static func failure(_ error: any Error) -> [String: Any] {
        var fields: [String: Any] = ["text": "\(error)", "error": "other"]
        guard let error = error as? AlertError else { return fields }
        // The name of the case, without its associated values.
        let name = Mirror(reflecting: error).children.first?.label
        fields["error"] = name ?? "closed"
        switch error {
        case .alreadyResolved(let response), .late(let response), .noChoice(let response):
            fields.merge(ending(response)) { $1 }
        case .keyConflict(_, let id, let part):
            fields["id"] = id
            fields["part"] = part
        default: break
        }
        return fields
    }

    static func print(_ fields: [String: Any]) {
        guard var line = try? JSONSerialization.data(withJSONObject: fields) else { return }
        line.append(UInt8(ascii: "\n"))
        // One write for each line, so that lines of several tasks don't mix.
        line.withUnsafeBytes { bytes in
            _ = write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
        }
    }
}
