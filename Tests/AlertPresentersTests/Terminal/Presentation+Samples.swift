import AlertCore
import Foundation

@testable import AlertPresenters

extension Presentation {
    /// A presentation of an alert as a manager would make it.
    static func of(
        _ alert: Alert, waitingCount: Int = 0, expiresIn: Duration? = nil,
        dismissesIn: Duration? = nil, isOrphaned: Bool = false, appeared: Flag = Flag(),
        clock: any AlertClock = SystemClock()
    ) -> Presentation {
        var record = AlertRecord(
            id: 42, alert: alert,
            source: .init(
                name: "backup", .account(.current),
                .process(ProcessIdentity(host: ProcessIdentity.current.host, pid: 1))),
            state: .presented, askedAt: Date(), presentedAt: nil, expiresAt: nil,
            snoozedUntil: nil, snoozes: 0, response: nil)
        record.isOrphaned = isOrphaned
        return Presentation(
            record: record, waitingCount: waitingCount,
            expiry: expiresIn.map { clock.now().advanced(by: $0) }, clock: clock,
            appeared: { appeared.set() }, dismissal: { dismissesIn })
    }
}

extension AlertInteraction {
    /// Presses a key while everything has been on the screen, and fits there.
    mutating func press(_ key: Key, visible: Set<Int>, now: Date = Date()) -> Action? {
        press(key, View(visible: visible), now: now)
    }
}

/// A response as the store would give it.
func response(
    _ outcome: Outcome, _ button: Alert.Button? = nil, by: ResolvedBy = .person,
    responder: Caller? = nil, input: Alert.Input = Alert.Input()
) -> Response {
    Response(
        alertID: 42, outcome: outcome, buttonIndex: button == nil ? -1 : 0, button: button,
        by: by, responder: responder, resolvedAt: Date(timeIntervalSince1970: 0),
        collectedAt: nil, userInfo: [:], input: input)
}

/// Texts that try to break out of their line: every control character, every kind of escape
/// sequence, invisible characters, and reversed directions.
let hostileTexts: [String] =
    (UInt32(1)...0x1F).compactMap { Unicode.Scalar($0).map { "a\(Character($0))b" } }
    + (UInt32(0x7F)...0x9F).compactMap { Unicode.Scalar($0).map { "a\(Character($0))b" } }
    + [
        "\u{1B}[2J\u{1B}[H", "\u{1B}]0;title\u{07}", "\u{1B}]52;c;aGk=\u{1B}\\",
        "\u{1B}P+q\u{1B}\\",
        "\u{1B}_G\u{1B}\\", "\u{1B}^x\u{1B}\\", "\u{1B}[?1049h", "\u{1B}[6n", "\u{1B}c",
        "\u{9B}31m", "\u{90}q\u{9C}", "yes\r\nno", "safe\u{202E}elif", "\u{2066}x\u{2069}",
        "\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}", "\u{E0041}\u{E0042}\u{E007F}",
        "e" + String(repeating: "\u{0301}", count: 200), "[ Yes ]  [ No ]",
    ]
