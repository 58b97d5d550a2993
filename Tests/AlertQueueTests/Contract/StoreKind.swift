import AlertQueue
import AlertQueueTesting
import PostgreSQLTesting
import SQLiteStore
import ServiceTesting
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

/// The kinds of stores that keep the contract.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory = "in memory"
    case sqlite = "SQLite"
    case servedSQLite = "SQLite, through a service"
    case brokenSQLite = "SQLite, through a service whose connections break"
    case killedSQLite = "SQLite, through a service that is killed"
    case postgreSQL = "PostgreSQL"
    case pooledPostgreSQL = "PostgreSQL, through a pooler and without notifications"
    case killedPostgreSQL = "PostgreSQL, through a service that is killed"

    var testDescription: String { rawValue }

    /// The kinds whose programs are installed.
    static var tried: [StoreKind] {
        allCases.filter { kind in
            switch kind {
            case .memory, .sqlite, .servedSQLite, .brokenSQLite, .killedSQLite: true
            case .postgreSQL, .killedPostgreSQL: PostgreSQLServer.isTried
            case .pooledPostgreSQL: PostgreSQLServer.isTried && Pooler.isTried
            }
        }
    }

    /// An empty queue of this kind; its files are deleted with it.
    func makeQueue() async throws -> ContractQueue {
        switch self {
        case .memory: return ContractQueue(InMemoryStore.opening(keeper: ContractQueue.keeper))
        case .sqlite:
            let queue = try TemporaryQueue()
            return ContractQueue { try await Self.open(queue, $0) }
        case .servedSQLite: return try Self.served(.lasting)
        case .brokenSQLite: return try Self.served(.broken)
        case .killedSQLite: return try Self.served(.killed)
        case .postgreSQL: return try await PostgreSQLQueue().contract
        case .pooledPostgreSQL: return try await PostgreSQLQueue(isPooled: true).contract
        case .killedPostgreSQL:
            let queue = try await PostgreSQLQueue()
            return Self.contract(
                try ServedQueue(.killed, of: queue.uri) { clock throws(AlertError) in
                    try await queue.open(clock)
                })
        }
    }

    private static func open(
        _ queue: TemporaryQueue, _ clock: any AlertClock, isShared: Bool = false
    ) async throws(AlertError) -> any AlertStore {
        try await SQLiteAlertStore.open(
            path: queue.path, clock: clock, caller: ContractQueue.keeper, appliesDeadlines: true,
            isShared: isShared)
    }

    private static func served(_ fate: ServedQueue.Fate) throws -> ContractQueue {
        let queue = try TemporaryQueue()
        return contract(
            try ServedQueue(fate, of: queue.path) { clock throws(AlertError) in
                try await open(queue, clock, isShared: true)
            })
    }

    private static func contract(_ queue: ServedQueue) -> ContractQueue {
        ContractQueue { try await queue.open($0) }
    }
}

extension StoreCheck: CustomTestStringConvertible {
    public var testDescription: String { description }
}
