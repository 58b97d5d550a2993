// A daemon that keeps a directory tidy, and asks before it deletes anything.
//
//     TidyDaemon DIRECTORY [SECONDS]
//
// For each file it asks whether to delete it; without an answer, the file is kept after SECONDS (a
// day by default). The question's key names the file and its last change, so that each version of a
// file is asked about once, however often daemons start and however many run. The handler is
// registered under a name: an answer that comes while no daemon runs is handled by the next one,
// and another daemon does what a killed one was about to do. When a file disappears, its question
// is withdrawn. SIGUSR1 prints the outcomes so far, and SIGTERM ends the daemon.
import AlertQueue
import Dispatch
import Foundation

/// One version of a file.
struct Version {
    let path: String
    /// Changes when the file is written to or replaced.
    let mark: String

    /// The version at a path; `nil` if there is none, or if it is not a regular file.
    init?(path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.path = path
        let time = status.st_mtim
        mark = "\(status.st_ino)-\(time.tv_sec)-\(time.tv_nsec)"
    }

    var name: String { URL(filePath: path).lastPathComponent }
}

struct TidyDaemon {
    static let handler = "tidy.delete"

    let manager: AlertManager
    let directory: String
    let patience: Duration

    /// Deletes a file if the answer says so, and it is still the version that was asked about.
    static func handle(_ response: Response) throws {
        // Every outcome comes here; an expiry or a withdrawal deletes nothing.
        guard response.outcome == .answered, response.button?.id == "delete",
            let path = response.userInfo["path"], let mark = response.userInfo["mark"],
            let version = Version(path: path), version.mark == mark
        else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch CocoaError.fileNoSuchFile {
            // Another process has already deleted it.
        }
    }

    /// Asks about new files, and withdraws questions about files that have gone, until cancelled.
    func watch() async throws {
        var asked: [String: Alert.ID] = [:]
        while !Task.isCancelled {
            do {
                try await lookAround(&asked)
            } catch AlertError.busy(let reason) {
                // Nothing is left half done: the next round does the rest.
                FileHandle.standardError.write(Data("TidyDaemon: \(reason)\n".utf8))
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func lookAround(_ asked: inout [String: Alert.ID]) async throws {
        var seen: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            guard let version = Version(path: "\(directory)/\(name)") else { continue }
            let key = "\(name) \(version.mark)"
            seen.insert(key)
            if asked[key] == nil { asked[key] = try await ask(version, key: key) }
        }
        for (key, id) in asked where !seen.contains(key) {
            try await takeBack(id)
            asked[key] = nil
        }
    }

    private func ask(_ version: Version, key: String) async throws -> Alert.ID {
        try await manager.show(
            Alert(
                "Delete \(version.name)?",
                buttons: [.destructive("Delete", id: "delete"), .cancel("Keep", id: "keep")],
                deadline: .after(patience), defaultButton: "keep", key: key, handler: Self.handler,
                userInfo: ["path": version.path, "mark": version.mark]))
    }

    private func takeBack(_ id: Alert.ID) async throws {
        do {
            try await manager.withdraw(id)
        } catch AlertError.alreadyResolved, AlertError.late {
            // The file was deleted because of the answer, or the deadline has passed.
        }
    }

    /// Withdraws questions of an earlier daemon about files that have gone since.
    func takeBackOld() async throws {
        for record in try await manager.pending(limit: 1000)
        where record.alert.handler == Self.handler {
            let path = record.alert.userInfo["path"] ?? ""
            if Version(path: path)?.mark != record.alert.userInfo["mark"] {
                try await takeBack(record.id)
            }
        }
    }

    func printStatistics() async throws {
        let counts = try await manager.statistics(source: manager.source).total
        let outcomes = counts.outcomes.map { "\($1) \($0)" }.sorted().joined(separator: ", ")
        let line = "\(counts.asked) asked, \(counts.waiting) waiting; \(outcomes)\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}

/// The signals that arrive, as a stream.
func signals(_ numbers: [Int32]) -> AsyncStream<Int32> {
    AsyncStream { continuation in
        for number in numbers {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            // The handler refers to the source, and so keeps it.
            source.setEventHandler { _ = continuation.yield(Int32(source.handle)) }
            source.resume()
        }
    }
}

func serve(_ directory: String, patience: Duration) async throws {
    let signals = signals([SIGTERM, SIGUSR1])
    let manager = try await AlertManager(source: "tidy-daemon")
    let daemon = TidyDaemon(manager: manager, directory: directory, patience: patience)
    // Registered first, so that earlier answers are handled at once.
    try await manager.register(handler: TidyDaemon.handler, TidyDaemon.handle)
    try await daemon.takeBackOld()
    try await withThrowingTaskGroup { group in
        group.addTask { try await daemon.watch() }
        group.addTask {
            for await number in signals {
                guard number == SIGUSR1 else { return }
                try await daemon.printStatistics()
            }
        }
        try await group.next()
        group.cancelAll()
    }
    await manager.close()
}

let words = CommandLine.arguments
guard words.count == 2 || (words.count == 3 && Int(words[2]) != nil) else {
    FileHandle.standardError.write(Data("usage: TidyDaemon DIRECTORY [SECONDS]\n".utf8))
    exit(64)
}
do {
    let seconds = words.count == 3 ? Int(words[2]) ?? 0 : 86_400
    try await serve(words[1], patience: .seconds(seconds))
} catch {
    FileHandle.standardError.write(Data("TidyDaemon: \(error)\n".utf8))
    exit(70)
}
