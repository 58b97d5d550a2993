/// How much is measured.
struct Plan: Sendable {
    /// How often each thing is measured, alternating with what it is compared with.
    var rounds = 5
    /// How many alerts wait, and how many have their response, in benchmarks with many alerts.
    var alerts = 1_000_000
    /// Where filled queues are kept for the next run; `nil` throws them away.
    var directory: String?
    /// The `alertq` to start as a process; `nil` means the one in the directory of this program.
    var program: String?
    /// How many microseconds are added to each sync of this program.
    var syncDelay = 0
    /// Whether to check only that everything works, within seconds; the figures then mean nothing.
    var isSmall = false

    /// A number of repetitions, reduced for a small run.
    func count(_ number: Int) -> Int {
        isSmall ? max(2, number / 100) : number
    }
}
