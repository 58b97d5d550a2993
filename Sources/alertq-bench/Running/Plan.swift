/// How much is measured.
struct Plan: Sendable {
    /// How often each thing is measured, in turns with what it is compared to.
    var rounds = 5
    /// How many alerts wait, and how many have their response, where a benchmark speaks of many.
    var alerts = 1_000_000
    /// Where filled queues are kept for the next run; `nil` throws them away.
    var directory: String?
    /// The `alertq` to start as a process; `nil` means the one beside this program.
    var program: String?
    /// By how many microseconds each sync of this program takes longer than the disk needs.
    var syncDelay = 0
    /// Whether to show only that everything works, in seconds; the figures say nothing then.
    var isSmall = false

    /// A number of repetitions, made small where that is wanted.
    func count(_ number: Int) -> Int {
        isSmall ? max(2, number / 100) : number
    }
}
