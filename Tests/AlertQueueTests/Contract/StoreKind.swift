import AlertQueue
import AlertQueueTesting
import SQLiteStore
import StoreTesting
import Synchronization
import Testing

@testable import AlertCore

/// The kinds of stores that keep the contract.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory = "in memory"
    case sqlite = "SQLite"

    var testDescription: String { rawValue }

    /// An empty queue of this kind; its files are deleted with it.
    func makeQueue() throws -> ContractQueue {
        let keeper = ContractQueue.keeper
        switch self {
        case .memory:
            let first = Mutex<InMemoryStore?>(nil)
            return ContractQueue { clock in
                first.withLock { first in
                    let store =
                        first?.another(clock: clock, keeper: keeper)
                        ?? InMemoryStore(clock: clock, keeper: keeper)
                    first = first ?? store
                    return store
                }
            }
        case .sqlite:
            let queue = try TemporaryQueue()
            return ContractQueue { clock in
                try await SQLiteAlertStore.open(
                    path: queue.path, clock: clock, caller: keeper, appliesDeadlines: true)
            }
        }
    }
}

extension StoreCheck: CustomTestStringConvertible {
    public var testDescription: String { description }
}
