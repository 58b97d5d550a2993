import AlertQueue
import AlertQueueTesting
import PipedStore
import PostgreSQLTesting
import SQLiteStore
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

/// The kinds of stores that keep the contract.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory = "in memory"
    case sqlite = "SQLite"
    case pipedMemory = "in memory, through a pipe"
    case pipedSQLite = "SQLite, through a pipe to a process that is killed"
    case postgreSQL = "PostgreSQL"
    case pooledPostgreSQL = "PostgreSQL, through a pooler and without notifications"
    case pipedPostgreSQL = "PostgreSQL, through a pipe to a process that is killed"

    var testDescription: String { rawValue }

    /// The kinds whose programs are installed.
    static var tried: [StoreKind] {
        allCases.filter { kind in
            switch kind {
            case .memory, .sqlite, .pipedMemory, .pipedSQLite: true
            case .postgreSQL, .pipedPostgreSQL: PostgreSQLServer.isTried
            case .pooledPostgreSQL: PostgreSQLServer.isTried && Pooler.isTried
            }
        }
    }

    /// An empty queue of this kind; its files are deleted with it.
    func makeQueue() async throws -> ContractQueue {
        let keeper = ContractQueue.keeper
        switch self {
        case .memory:
            return ContractQueue(InMemoryStore.opening(keeper: keeper))
        case .sqlite:
            let queue = try TemporaryQueue()
            return ContractQueue { clock in
                try await SQLiteAlertStore.open(
                    path: queue.path, clock: clock, caller: keeper, appliesDeadlines: true)
            }
        case .pipedMemory: return piped(try StoreProcess(Self.server, [], isKilled: false))
        case .pipedSQLite:
            let queue = try TemporaryQueue()
            let process = try StoreProcess(Self.server, [queue.path], isKilled: true)
            return piped(process, on: queue)
        case .postgreSQL: return try await PostgreSQLQueue().contract
        case .pooledPostgreSQL: return try await PostgreSQLQueue(isPooled: true).contract
        case .pipedPostgreSQL:
            let location = try await PostgreSQLQueue().uri
            return piped(try StoreProcess(Self.server, [location], isKilled: true))
        }
    }

    /// - Parameter files: The files of the queue, which are deleted with it.
    private func piped(
        _ process: StoreProcess, on files: TemporaryQueue? = nil
    ) -> ContractQueue {
        let server = PipedQueue(process: process, files: files)
        return ContractQueue { clock in
            try await PipedStore(on: server.process, clock: clock)
        }
    }

    private static let server = BuiltProgram.path("StoreServer")
}

/// A process that serves a queue, and ends before the queue's files are deleted.
private final class PipedQueue: Sendable {
    let process: StoreProcess
    private let files: TemporaryQueue?

    init(process: StoreProcess, files: TemporaryQueue?) {
        self.process = process
        self.files = files
    }

    deinit { process.end() }
}

extension StoreCheck: CustomTestStringConvertible {
    public var testDescription: String { description }
}
