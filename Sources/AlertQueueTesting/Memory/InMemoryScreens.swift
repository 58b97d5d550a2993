import AlertCore

/// The screens that are attached to a queue in memory, which of them leads, and which alerts are
/// leased.
struct InMemoryScreens {
    private struct Entry {
        var screen: AttachedScreen
        var wantsLead = false
        let process: Int
    }

    private var entries: [Int: Entry] = [:]
    private var nextNumber = 0
    private(set) var leader: Int?
    private var leases: Set<Alert.ID> = []
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
        guard entries.count < AttachedScreen.maximumCount else { return nil }
        nextNumber += 1
        entries[nextNumber] = Entry(screen: screen, process: process)
        return nextNumber
    }

    func isAttached(_ number: Int) -> Bool { entries[number] != nil }

    /// Records what a screen shows and can show, and whether it wants the lead.
    mutating func announce(
        _ screen: AttachedScreen, wantsLead: Bool, on number: Int
    ) -> LeaseState {
        guard entries[number] != nil else { return .lost }
        entries[number]?.screen = screen
        entries[number]?.wantsLead = wantsLead
        if leader != number {
            entries[number]?.screen.current = nil
        } else if !wantsLead {
            stepBack(number)
        }
        return state(of: number)
    }

    /// The state of a screen, which takes the lead if it wants it and no other has it.
    mutating func state(of number: Int) -> LeaseState {
        guard let entry = entries[number] else { return .lost }
        if leader == nil, entry.wantsLead {
            leader = number
            entries[number]?.screen.current = entry.screen.alert
        }
        let others = roster(besides: number)
        return leader == number ? .leading(others) : .following(others)
    }

    private mutating func stepBack(_ number: Int) {
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

    /// Leases an alert; returns `false` if somebody else has the lease that only one can have.
    mutating func lease(_ id: Alert.ID, for purpose: LeasePurpose) -> Bool {
        switch purpose {
        case .handling: return leases.insert(id).inserted
        case .waiting:
            waits[id, default: 0] += 1
            return true
        }
    }

    mutating func endLease(_ id: Alert.ID, for purpose: LeasePurpose) {
        switch purpose {
        case .handling: leases.remove(id)
        case .waiting: waits[id] = waits[id].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }

    /// Whether a call waits for an alert.
    func isAwaited(_ id: Alert.ID) -> Bool { waits[id] != nil }
}
