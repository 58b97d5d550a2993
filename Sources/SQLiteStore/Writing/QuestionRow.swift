import AlertCore
import SQLite

/// The row of a question: what was prepared, and what its transaction adds.
struct QuestionRow {
    /// How many rows one statement inserts, if there are as many.
    static let gathered = 8

    let prepared: PreparedQuestion
    let source: Int64
    let turn: Int64
    let now: ClockReading
    let expiry: ClockReading?
    /// The number of the alert; `nil` for the next one.
    var id: Alert.ID?

    static let insertion = insertion(of: 1)
    static let insertions = insertion(of: gathered)

    private static func insertion(of count: Int) -> String {
        let values = "(" + Array(repeating: "?", count: 24).joined(separator: ", ") + ")"
        return """
            INSERT INTO alerts (id, source_id, pid, host, key, style, priority, title, message,
                buttons, info, default_button, handler, presenters, salt, dismiss_after_ms,
                snooze_ms, boot, asked_ms, asked_boot_ms, expires_ms, expires_boot_ms, account,
                turn)
            VALUES \(Array(repeating: values, count: count).joined(separator: ", "))
            """
    }

    /// Binds the columns in the order of the statement.
    func bind(to parameters: inout Parameters) {
        let (alert, identity) = (prepared.question.alert, prepared.caller.identity)
        parameters.bind(id)
        parameters.bind(source)
        parameters.bind(Int64(identity.pid))
        parameters.bind(identity.host)
        parameters.bind(alert.key)
        parameters.bind(alert.style.rawValue)
        parameters.bind(alert.priority.rawValue)
        parameters.bind(alert.title)
        parameters.bind(alert.message)
        parameters.bind(prepared.buttons)
        parameters.bind(prepared.info)
        parameters.bind(alert.defaultButton)
        parameters.bind(alert.handler)
        parameters.bind(prepared.presenters)
        parameters.bind(prepared.salt)
        parameters.bind(alert.dismissAfter?.milliseconds)
        parameters.bind(alert.snooze?.milliseconds)
        parameters.bind(now.boot)
        parameters.bind(now.wallMilliseconds)
        parameters.bind(now.bootMilliseconds)
        parameters.bind(expiry?.wallMilliseconds)
        parameters.bind(expiry.flatMap { $0.isOnWallClock ? nil : $0.bootMilliseconds })
        parameters.bind(Int64(identity.uid))
        parameters.bind(turn)
    }
}
