import Foundation
import Synchronization

@testable import AlertPresenters

/// A shell script as a presenter, in a directory of its own.
final class ProgramScript: Sendable {
    let directory: String
    private let logged = Mutex<[String]>([])

    var path: String { directory + "/show" }
    /// What the presenter logged.
    var log: [String] { logged.withLock { $0 } }

    init(_ body: String) throws {
        directory = "/tmp/alertq-program-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        let text = "#!/bin/sh\ncd \(directory)\n" + body + "\n"
        // By a rename: nobody may start a script that somebody has open for writing (ETXTBSY).
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func presenter() throws -> CommandPresenter {
        try CommandPresenter(
            path, usesTerminal: false, pause: RetryPause(first: .milliseconds(1)),
            log: { line in self.logged.withLock { $0.append(line) } })
    }

    /// The lines of a file that the script wrote.
    func lines(_ name: String) -> [String] {
        let text = try? String(contentsOfFile: directory + "/" + name, encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }
}

/// Waits until a condition holds, for 20 seconds at most; returns whether it does.
func eventually(_ condition: @Sendable () -> Bool) async -> Bool {
    let limit = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < limit {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return false
}

/// Whether a process runs; what has ended and waits for its parent does not. See proc(5).
func isRunning(_ process: String) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
        let state = status.split(separator: ")").last?.split(separator: " ").first
    else { return false }
    return state != "Z"
}

/// Whether there is a process, be it one that has ended and was not reaped; see proc(5).
func exists(_ process: String) -> Bool {
    FileManager.default.fileExists(atPath: "/proc/\(process)/stat")
}

/// The processes that work in a directory.
func processes(in directory: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.filter { process in
        let folder = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(process)/cwd")
        return Int32(process) != nil && folder == directory
    }
}
