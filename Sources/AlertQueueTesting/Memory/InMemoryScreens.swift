import AlertCore

/// The screens that are attached to a queue in memory, which of them leads, and whose turn it is to
/// run a handler.
struct InMemoryScreens {
    private struct Screen {
        var holder: SlotHolder
        let process: Int
    }

    /// How many screens may be attached.
    static let capacity = 64

    private var screens: [Int: Screen] = [:]
    private var nextNumber = 0
    private(set) var leader: Int?
    private var turns: Set<Alert.ID> = []

    /// The screen that leads, and what is on it.
    var leading: SlotHolder? { leader.flatMap { screens[$0]?.holder } }

    /// Attaches a screen; returns its number, or `nil` if there are too many already.
    mutating func attach(_ holder: SlotHolder, of process: Int) -> Int? {
        guard screens.count < Self.capacity else { return nil }
        nextNumber += 1
        screens[nextNumber] = Screen(holder: holder, process: process)
        return nextNumber
    }

    mutating func lead(_ number: Int) -> Bool {
        guard screens[number] != nil else { return false }
        if leader == nil { leader = number }
        return leader == number
    }

    /// Notes what is on a screen; `false` if that one doesn't lead.
    mutating func show(_ alert: Alert.ID?, hasDelegate: Bool, on number: Int) -> Bool {
        guard leader == number else { return false }
        screens[number]?.holder.alert = alert
        screens[number]?.holder.hasDelegate = hasDelegate
        return true
    }

    mutating func stepBack(_ number: Int) {
        guard leader == number else { return }
        screens[number]?.holder.alert = nil
        leader = nil
    }

    mutating func release(_ number: Int) {
        stepBack(number)
        screens[number] = nil
    }

    /// Ends what belongs to a process, as its end does.
    mutating func release(process: Int) {
        for (number, screen) in screens where screen.process == process { release(number) }
    }

    /// Takes the turn of an alert's handler; `false` if somebody has it.
    mutating func takeTurn(_ id: Alert.ID) -> Bool { turns.insert(id).inserted }

    mutating func endTurn(_ id: Alert.ID) { turns.remove(id) }
}
