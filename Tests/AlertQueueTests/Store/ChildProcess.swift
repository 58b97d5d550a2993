import Foundation
import Synchronization

/// A command that runs beside the test, and is killed when nobody refers to it any more.
final class ChildProcess: Sendable {
    private let process: Mutex<Process>
    private let output: FileHandle
    private let input: FileHandle

    /// Starts a command from `PATH`.
    init(_ command: String...) throws {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.input = input.fileHandleForWriting
        self.output = output.fileHandleForReading
        self.process = Mutex(process)
    }

    deinit {
        kill()
    }

    /// What it writes next to its standard output; empty after the end.
    func read() -> String {
        String(decoding: output.availableData, as: UTF8.self)
    }

    /// Writes to its standard input.
    func write(_ text: String) throws {
        try input.write(contentsOf: Data(text.utf8))
    }

    /// Kills it with SIGKILL, and waits for its end.
    func kill() {
        process.withLock { process in
            guard process.isRunning else { return }
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// Runs a command to its end, and returns its exit status and output.
    static func run(_ command: String..., input: Data? = nil) throws -> (
        status: Int32, text: String
    ) {
        let process = Process()
        let (standardInput, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardInput = input == nil ? FileHandle.nullDevice : standardInput
        process.standardOutput = output
        process.standardError = output
        try process.run()
        if let input {
            try standardInput.fileHandleForWriting.write(contentsOf: input)
            try standardInput.fileHandleForWriting.close()
        }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
