import AlertCore
import SQL
import TextFormats

// The values of new and changed rows, in the order of their columns.

extension PreparedQuestion {
    /// The columns of a new row of `alerts`; the others have their defaults.
    package static let columns =
        AlertProperty.columns + [
            "id", "source_id", "means", "pid", "host", "salt", "awaited", "boot", "asked_ms",
            "asked_boot_ms", "expires_ms", "expires_boot_ms", "queued_seq",
        ]

    /// - Parameters:
    ///   - source: The row of `sources`.
    ///   - sequence: The entry of the log that records the ask.
    package func values(
        id: Alert.ID, source: Int64, at now: ClockReading, expiry: ClockReading?,
        entry sequence: Int64
    ) -> [Value] {
        let (alert, process) = (question.alert, caller.process)
        var values: [Value] = []
        values.reserveCapacity(Self.columns.count)
        for property in AlertProperty.all { values.append(property.value(of: alert)) }
        values += [
            .integer(id), .integer(source), .optional(caller.means.text),
            .optional((process?.pid).map(Int64.init)), .optional(process?.host), .blob(salt),
            .integer(question.isAwaited ? 1 : 0), .text(now.boot), .integer(now.wallMilliseconds),
            .integer(now.bootMilliseconds), .optional(expiry?.wallMilliseconds),
            .optional(expiry.flatMap { $0.isOnWallClock ? nil : $0.bootMilliseconds }),
            .integer(sequence),
        ]
        return values
    }
}

extension Response {
    /// The columns of `alerts` that its end sets.
    package static let columns = [
        "outcome", "button_index", "resolved_by", "handled", "responder", "responder_name", "via",
        "tty", "ssh", "responder_means", "responder_host", "responder_pid", "resolved_ms",
        "resolved_seq", "resolved_boot_ms", "resolved_boot", "field_values", "note",
    ]

    /// - Parameters:
    ///   - record: The alert.
    ///   - givenAt: When it was given, if it goes stale.
    ///   - sequence: The entry of the log that records the response.
    package func values(
        of record: AlertRecord, givenAt: ClockReading?, at now: ClockReading,
        entry sequence: Int64
    ) -> [Value] {
        let who = responder
        return [
            .text(outcome.rawValue), .integer(buttonIndex), .text(by.rawValue),
            .integer(runsHandlers ? 0 : 1), .optional(who?.principal.text),
            .optional(who?.principal.user), .optional(who?.via), .optional(who?.tty),
            .optional(who?.ssh), .optional(who?.means.text), .optional(who?.process?.host),
            .optional((who?.process?.pid).map(Int64.init)),
            .integer(now.wallMilliseconds), .integer(sequence),
            .optional(givenAt?.bootMilliseconds), .optional(givenAt?.boot),
            .optional(input.text(for: record.alert.fields)), .optional(note),
        ]
    }
}

extension ErasedButtons {
    /// The columns of `alerts` that an erasure sets.
    package static let columns =
        AlertProperty.erased.map(\.column) + ["field_values", "note", "salt", "erased_seq"]

    /// - Parameter sequence: The entry of the log that names the alert.
    package func values(entry sequence: Int64) -> [Value] {
        AlertProperty.erased.map { $0.value(leaving: self) }
            + [.null, .null, .null, .integer(sequence)]
    }
}

extension AuditEntry {
    /// The columns of a row of `audit`.
    package static let columns = AuditRow.Column.allCases.map { "\"\($0.snakeCased)\"" }

    package var values: [Value] {
        let by = event.responder
        return [
            .integer(event.sequence), .integer(Timestamp.milliseconds(event.at)),
            .text(event.kind.rawValue), .optional(event.alertID), .optional(event.source),
            .optional(event.outcome?.rawValue), .optional(event.buttonIndex.map(Int64.init)),
            .optional(buttonRole?.rawValue), .optional(event.by?.rawValue),
            .text(principal), .optional(by.principal.user), .optional(loginUID.map(Int64.init)),
            .optional(session.map(Int64.init)), .text(by.via), .optional(by.tty),
            .optional(by.ssh), .optional(by.means.text), .optional(by.process?.host),
            .text(boot), .optional((by.process?.pid).map(Int64.init)), .optional(content),
            .optional(detail), .blob(previous), .blob(hash),
        ]
    }
}

extension [String] {
    /// The names, as a statement lists them.
    package var list: String { joined(separator: ", ") }
}
