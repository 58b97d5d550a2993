import AlertCore

/// The screens that are attached to a queue in memory, which of them leads, and which alerts are
/// claimed.
struct InMemoryScreens {
    private struct Entry {
        var screen: AttachedScreen
        let process: Int
    }

    /// How many screens may be attached.
    static let capacity = 64

    private var entries: [Int: Entry] = [:]
    private var nextNumber = 0
    private(set) var leader: Int?
    private var claims: Set<Alert.ID> = []
    /// How many calls wait for each alert.
    private var waits: [Alert.ID: Int] = [:]

    /// The screens, with or without a given one.
    func roster(besides own: Int? = nil) -> ScreenRoster {
        let others = entries.keys.filter { $0 != own }.sorted()
        return ScreenRoster(
            leader: others.first { $0 == leader }.flatMap { entries[$0]?.screen },
            followers: others.filter { $0 != leader }.compactMap { entries[$0]?.screen })
    }

    /// Attaches a screen; returns its number, or `nil` if too many are attached already.
    mutating func attach(_ screen: AttachedScreen, of process: Int) -> Int? {
        guard entries.count < Self.capacity else { return nil }
        nextNumber += 1
        entries[nextNumber] = Entry(screen: screen, process: process)
        return nextNumber
    }

    func isAttached(_ number: Int) -> Bool { entries[number] != nil }

    mutating func lead(_ number: Int) -> Bool {
        guard entries[number] != nil else { return false }
        if leader == nil {
            leader = number
            let shown = entries[number]?.screen.alert
            entries[number]?.screen.current = shown
        }
        return leader == number
    }

    /// Records the alert on a screen, and the current alert if the screen leads; returns `false` if
    /// the screen is not attached.
    mutating func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool, on number: Int
    ) -> Bool {
        guard var entry = entries[number] else { return false }
        entry.screen.alert = alert
        entry.screen.current = leader == number ? current : nil
        entry.screen.hasDelegate = hasDelegate
        entries[number] = entry
        return true
    }

    mutating func offer(_ presenters: [String], isBusy: Bool, on number: Int) {
        entries[number]?.screen.offer(presenters, isBusy: isBusy)
    }

    mutating func stepBack(_ number: Int) {
        guard leader == number else { return }
        entries[number]?.screen.current = nil
        leader = nil
    }

    mutating func release(_ number: Int) {
        stepBack(number)
        entries[number] = nil
    }

    /// Detaches all screens of a process, as its end does.
    mutating func release(process: Int) {
        for (number, entry) in entries where entry.process == process { release(number) }
    }

    /// Claims an alert; returns `false` if somebody else has the claim that only one can have.
    mutating func claim(_ id: Alert.ID, for purpose: ClaimPurpose) -> Bool {
        switch purpose {
        case .handling: return claims.insert(id).inserted
        case .waiting:
            waits[id, default: 0] += 1
            return true
        }
    }

    mutating func endClaim(_ id: Alert.ID, for purpose: ClaimPurpose) {
        switch purpose {
        case .handling: claims.remove(id)
        case .waiting: waits[id] = waits[id].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }

    /// Whether a call waits for an alert.
    func isAwaited(_ id: Alert.ID) -> Bool { waits[id] != nil }
}
