import Glibc
import SQLiteStore

/// A queue with many alerts, written as plain rows whose audit log verifies.
///
/// Sources, buttons, outcomes and deciders are spread unevenly, as in practice: some combinations
/// occur once in a thousand.
struct FilledQueue {
    let path: String
    /// How many alerts have their response.
    let resolved: Int
    /// How many wait.
    let waiting: Int
    // This value owns its directory, unless the files are to be kept.
    private let workspace: Workspace?

    /// Makes a queue, or finds the one that an earlier run kept.
    static func make(
        resolved: Int, waiting: Int, entriesPerAlert: Int = 3, plan: Plan
    ) async throws -> FilledQueue {
        let workspace = plan.directory == nil ? try Workspace() : nil
        let directory = plan.directory ?? workspace?.directory ?? "."
        let path = "\(directory)/filled-\(resolved)-\(waiting)-\(entriesPerAlert).db"
        let queue = FilledQueue(
            path: path, resolved: resolved, waiting: waiting, workspace: workspace)
        if access(path + "-filled", F_OK) == 0 { return queue }
        mkdir(directory, 0o700)
        for ending in ["", "-wal", "-shm", "-lock", "-slot", "-bell", "-reserve"] {
            unlink(path + ending)
        }
        try await SQLiteAlertStore.open(path: path).close()
        let filler = try Filler(path: path, count: resolved + waiting)
        try filler.fill(resolved: resolved, waiting: waiting, entries: entriesPerAlert)
        close(creat(path + "-filled", 0o600))
        return queue
    }
}
