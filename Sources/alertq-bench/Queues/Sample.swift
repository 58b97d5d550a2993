import AlertQueue

/// The properties of one of many alerts, determined by its number alone.
struct Sample {
    /// The most common source first.
    static let sources = [
        "backup", "backup", "backup", "backup", "updates", "updates", "updates", "deploy",
        "deploy", "agent", "agent", "agent", "raid", "certificates", "mail", "cron",
    ]
    static let rareSource = "firmware"
    /// Who answered.
    static let user = "ana"
    static let buttons = [
        Alert.Button("Yes", id: "yes"), .cancel("No", id: "no"), Alert.Button("Later", id: "later"),
    ]

    let source: String
    let key: String?
    let outcome: Outcome
    let by: ResolvedBy
    /// The index of the chosen button, or −1.
    let button: Int
    let hasButtons: Bool
    let isCollected: Bool
    /// The number of the disk in the message, one of a thousand.
    let disk: Int

    init(_ number: Int) {
        // Any mixing will do that maps a number to the same value each time (Knuth, TAOCP 6.4).
        let mixed = Int((UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15) >> 33)
        source =
            mixed % 1000 == 7 ? Self.rareSource : Self.sources[mixed / 1000 % Self.sources.count]
        key = mixed % 4 == 0 ? "job-\(number)" : nil
        isCollected = mixed / 7 % 5 > 0
        disk = mixed / 17 % 1000
        let choice = mixed / 11 % 20
        let chosen = choice < 13 ? 0 : choice < 19 ? 1 : 2
        switch mixed / 13 % 1000 {
        case ..<700: (outcome, by, button) = (.answered, .person, chosen)
        case ..<750: (outcome, by, button) = (.expired, .policy, 1)
        case ..<800: (outcome, by, button) = (.expired, .system, -1)
        case ..<899: (outcome, by, button) = (.dismissed, .system, -1)
        case ..<900: (outcome, by, button) = (.dismissed, .person, -1)
        case ..<950: (outcome, by, button) = (.withdrawn, .asker, -1)
        case ..<999: (outcome, by, button) = (.cancelled, .system, 1)
        default: (outcome, by, button) = (.answered, .policy, chosen)
        }
        hasButtons = outcome != .dismissed
    }

    func alert(_ number: Int) -> Alert {
        Alert(
            "Question \(number)", message: "It is about 40 GB on disk\(disk).",
            buttons: hasButtons ? Self.buttons : [], key: key)
    }
}
