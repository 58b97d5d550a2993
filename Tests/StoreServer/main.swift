import AlertCore
import AlertQueueTesting
import Dispatch
import Foundation
import PipedStore
import PostgreSQLStore
import SQLiteStore
import StoreChecks

/// A queue in another process, for a ``PipedStore``: `StoreServer PATH`, `StoreServer URI`, or
/// `StoreServer` for one in memory.
func makeServer() -> StoreServer {
    let keeper = ContractQueue.keeper
    if let path = CommandLine.arguments.dropFirst().first {
        if path.hasPrefix("postgresql:") {
            return StoreServer { clock throws(AlertError) in
                try await PostgreSQLAlertStore.open(
                    PostgreSQLLocation(path), clock: ServerClock(manual: clock),
                    caller: keeper, appliesDeadlines: true, checksDurability: false)
            }
        }
        return StoreServer { clock throws(AlertError) in
            try await SQLiteAlertStore.open(
                path: path, clock: clock, caller: keeper, appliesDeadlines: true)
        }
    }
    return StoreServer(InMemoryStore.opening(keeper: keeper))
}

Task.detached {
    await makeServer().serve()
    exit(0)
}
dispatchMain()
