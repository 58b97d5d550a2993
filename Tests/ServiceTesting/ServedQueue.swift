import AlertCore
import AlertQueueTesting
import AlertService
import Foundation
import ServiceStore
import Synchronization
import TestSupport

/// A queue behind a service, as the contract's checks open it. Where a check opens it with another clock
/// than at first, that store has the queue itself, as a process beside the service.
package final class ServedQueue: Sendable {
    /// What happens to connections.
    package enum Fate: Sendable {
        /// They last.
        case lasting
        /// One breaks after some commits, mostly before the reply.
        case broken
        /// The service is a process, which is killed then, and started again.
        case killed
    }

    /// Opens the queue itself.
    package typealias Opening =
        @Sendable (any AlertClock) async throws(AlertError) -> any AlertStore

    private let directory: TemporaryDirectory
    private let fate: Fate
    private let location: String
    private let opening: Opening
    private let service = Mutex<(clock: ObjectIdentifier, task: Task<ClockedService, any Error>)?>(
        nil)

    /// - Parameters:
    ///   - location: The queue's file or URI, for a service that is a process.
    ///   - opening: Keeps the queue's files for as long as it exists.
    package init(
        _ fate: Fate, of location: String, _ opening: @escaping Opening
    ) throws {
        directory = try TemporaryDirectory()
        self.fate = fate
        self.location = location
        self.opening = opening
    }

    deinit {
        let service = service.withLock { $0?.task }
        Task { [directory, opening] in
            await (try? service?.value)?.end()
            withExtendedLifetime((directory, opening)) {}
        }
    }

    /// Opens the queue once more, with a clock.
    package func open(_ clock: any AlertClock) async throws -> any AlertStore {
        guard let manual = clock as? ManualClock else {
            throw TestingError("the clock is not manual")
        }
        let task = service.withLock { service -> Task<ClockedService, any Error>? in
            if service == nil {
                service = (ObjectIdentifier(manual), Task { try await self.makeService(manual) })
            }
            return service?.clock == ObjectIdentifier(manual) ? service?.task : nil
        }
        guard let task else { return try await opening(clock) }
        return try await ServiceAlertStore.open(
            ServiceLocation("unix:" + (try await task.value.path)), isReadOnly: false,
            patience: .seconds(30))
    }

    private func makeService(_ clock: ManualClock) async throws -> ClockedService {
        let relay = directory.path + "/relay.sock"
        guard fate != .killed else {
            let process = try ServiceProcess(of: location, in: directory.path + "/s", clock)
            return ClockedService(
                path: relay,
                relay: try BreakingRelay(at: relay, to: process.socket) { process.restart() }
            ) { process.end() }
        }
        let sockets = try ServiceSockets(in: directory.path + "/s")
        let service = try QueueService(
            try await opening(clock), at: location, on: sockets, as: .anybody)
        let isBroken = fate == .broken
        return ClockedService(
            path: isBroken ? relay : sockets.lines,
            relay: isBroken ? try BreakingRelay(at: relay, to: sockets.lines) {} : nil
        ) { await service.stop() }
    }
}

/// A service whose clock a test moves.
private struct ClockedService: Sendable {
    /// Where clients connect.
    let path: String
    let relay: BreakingRelay?
    let stop: @Sendable () async -> Void

    init(path: String, relay: BreakingRelay?, stop: @escaping @Sendable () async -> Void) {
        self.path = path
        self.relay = relay
        self.stop = stop
    }

    func end() async {
        relay?.end()
        await stop()
    }
}
