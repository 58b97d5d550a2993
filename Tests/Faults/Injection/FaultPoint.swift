import Foundation
import Glibc
import ProcessTesting

/// One kind of system call on one file of a queue; strace(1) can make the N-th of them fail.
struct FaultPoint: Hashable, Sendable {
    let call: String
    /// The file's name in the queue's directory, "." for the directory itself; `nil` for any file.
    let name: String?

    /// All calls that change the disk or sync it. Opening is not one of them: the next call shows
    /// the effect of a file that it created.
    static let changes = [
        "write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync", "sync_file_range",
        "ftruncate", "fallocate", "rename", "renameat", "renameat2", "link", "linkat", "unlink",
        "unlinkat", "fchmod", "mkdir",
    ]

    /// What strace does to the call.
    enum Effect: String, CaseIterable, Sendable {
        case kill = "signal=SIGKILL"
        case inputOutput = "error=EIO"
        case full = "error=ENOSPC"
        case overQuota = "error=EDQUOT"
        case interrupted = "error=EINTR"
    }

    /// The words before a command that make the N-th call fail, or all calls from the N-th on.
    ///
    /// strace counts the calls of each thread separately; only one thread writes to a file, so
    /// that counting within one file counts all of them.
    func wrapper(
        _ effect: Effect, at number: Int, forEver: Bool = false, in queue: CommandLineQueue,
        log: String
    ) -> [String] {
        let injection = "inject=\(call):\(effect.rawValue):when=\(number)\(forEver ? "+" : "")"
        let path = name.map { ["-P", $0 == "." ? queue.directory : "\(queue.directory)/\($0)"] }
        return Tool.tracer + ["-f", "-qq", "-o", log] + (path ?? [])
            + ["-e", "trace=\(call)", "-e", injection]
    }

    /// The calls that a command makes on a queue when nothing fails.
    struct Calls: Sendable {
        var points: [FaultPoint] = []
        /// The calls with their sizes and offsets, but without the written data.
        var story: [String] = []
        /// How many calls can be hit: if several threads make calls on one file, as many as the
        /// busiest thread makes, because of how strace counts.
        var reachable: Int {
            points.map { point in
                threads.filter { $0.key.point == point }.map(\.value).max() ?? 0
            }.reduce(0, +)
        }
        fileprivate var threads: [Thread: Int] = [:]

        fileprivate struct Thread: Hashable, Sendable {
            let number: Substring
            let point: FaultPoint
        }
    }

    /// Runs a command without faults, and returns the calls that it made on the queue.
    static func calls(
        _ calls: [String], in queue: CommandLineQueue, _ run: ([String]) async throws -> Void
    ) async throws -> Calls {
        let log = queue.directory + ".calls"
        defer { unlink(log) }
        try await run(
            Tool.tracer + ["-f", "-y", "-o", log, "-e", "trace=" + calls.joined(separator: ",")])
        let text = try String(contentsOfFile: log, encoding: .utf8)
        var found = Calls()
        for line in text.split(separator: "\n") {
            guard let match = line.firstMatch(of: /^(\d+) +(\w+)\((.*)/),
                let file = name(in: String(match.3), of: queue)
            else { continue }
            // A draft is named after its process, and a kept queue after the time; neither name is
            // known beforehand.
            let isDraft = file.contains("-new.") || file.contains("-replaced-")
            if isDraft, match.2 == "openat" { continue }
            let point = FaultPoint(call: String(match.2), name: isDraft ? nil : file)
            if !found.points.contains(point) { found.points.append(point) }
            found.threads[Calls.Thread(number: match.1, point: point), default: 0] += 1
            let offsets = match.3.replacing(/"(?:[^"\\]|\\.)*"/, with: "").replacing(
                /<[^>]*>/, with: "")
            found.story.append("\(match.2) \(isDraft ? "draft" : file) \(offsets)")
        }
        return found
    }

    private static func name(in arguments: String, of queue: CommandLineQueue) -> String? {
        guard let start = arguments.range(of: queue.directory) else { return nil }
        let rest = arguments[start.upperBound...]
        if rest.hasPrefix(">") || rest.hasPrefix("\"") { return "." }
        return String(rest.dropFirst().prefix { !">\"".contains($0) })
    }

    /// Whether strace has hit a call, according to its log.
    static func wasHit(log: String) -> Bool {
        guard let text = try? String(contentsOfFile: log, encoding: .utf8) else { return false }
        return text.contains("(INJECTED)") || text.contains("killed by SIGKILL")
    }
}
