import AlertCore
import Foundation
import Synchronization
import TestSupport

@testable import AlertPresenters

/// A shell script as a presenter, in a directory of its own.
final class ProgramScript: Sendable {
    let path: String
    private let folder: TemporaryDirectory
    private let logged = Mutex<[String]>([])

    var directory: String { folder.path }
    /// What the presenter logged.
    var log: [String] { logged.withLock { $0 } }

    init(_ body: String) throws {
        folder = try TemporaryDirectory("alertq-program-")
        path = try folder.script("show", "cd \(folder.path)\n" + body)
    }

    func presenter() throws -> CommandPresenter {
        try CommandPresenter(
            path, usesTerminal: false,
            pauses: Backoff(first: .milliseconds(1), longest: .milliseconds(4)),
            log: { line in self.logged.withLock { $0.append(line) } })
    }

    /// The lines of a file that the script wrote.
    func lines(_ name: String) -> [String] { folder.lines(name) }
}

/// Whether a process runs; a zombie does not. See proc(5).
func isRunning(_ process: String) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
        let state = status.split(separator: ")").last?.split(separator: " ").first
    else { return false }
    return state != "Z"
}

/// Whether a process exists, even as a zombie; see proc(5).
func exists(_ process: String) -> Bool {
    FileManager.default.fileExists(atPath: "/proc/\(process)/stat")
}

/// The processes whose working directory is a given one.
func processes(in directory: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.filter { process in
        let folder = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(process)/cwd")
        return Int32(process) != nil && folder == directory
    }
}
