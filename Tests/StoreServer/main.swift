import AlertCore
import AlertService
import Dispatch
import Foundation
import PostgreSQLStore
import SQLiteStore
import ServiceTesting
import StoreChecks

/// A service whose clients act for whomever they say, and whose clock is in a file:
/// `StoreServer DIRECTORY CLOCK LOCATION`.
func open(_ location: String, _ clock: FileClock) async throws -> any AlertStore {
    let keeper = ContractQueue.keeper
    guard location.hasPrefix("postgresql:") else {
        return try await SQLiteAlertStore.open(
            path: location, clock: clock, caller: keeper, appliesDeadlines: true, isShared: true)
    }
    return try await PostgreSQLAlertStore.open(
        PostgreSQLLocation(location), clock: ServerClock(manual: clock), caller: keeper,
        appliesDeadlines: true, isShared: true, checksDurability: false)
}

let words = CommandLine.arguments
let service = Task.detached {
    do {
        let store = try await open(words[3], FileClock(path: words[2]))
        return try QueueService(
            store, at: words[3], on: ServiceSockets(in: words[1]), as: .anybody)
    } catch {
        FileHandle.standardError.write(Data("StoreServer: \(error)\n".utf8))
        exit(1)
    }
}
dispatchMain()
