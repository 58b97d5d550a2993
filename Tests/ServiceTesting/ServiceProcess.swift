import AlertQueueTesting
import Foundation
import Synchronization
import TestSupport

/// A service in a process of its own, which is started again when it has been killed.
final class ServiceProcess: Sendable {
    private struct State {
        var process: Process?
        var isOver = false
    }

    private let arguments: [String]
    private let directory: String
    private let clock: ManualClock
    private let state = Mutex(State())

    init(of location: String, in directory: String, _ clock: ManualClock) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        self.directory = directory
        self.clock = clock
        let file = directory + "/clock"
        arguments = [directory, file, location]
        clock.whenSet { reading in
            // Whole or not at all: the service reads it at any time.
            try? JSONEncoder().encode(FileClock.Reading(reading)).write(
                to: URL(filePath: file), options: .atomic)
        }
        try state.withLock { try start(&$0) }
    }

    var socket: String { directory + "/alertq.sock" }

    private func start(_ state: inout State) throws {
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path("StoreServer"))
        process.arguments = arguments
        try process.run()
        state.process = process
    }

    /// Kills it, and starts it again.
    func restart() {
        state.withLock { state in
            guard !state.isOver, let process = state.process else { return }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try? start(&state)
        }
    }

    func end() {
        let process = state.withLock { state in
            state.isOver = true
            return state.process
        }
        process?.terminate()
    }
}
