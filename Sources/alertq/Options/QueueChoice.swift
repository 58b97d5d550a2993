import AlertQueue
import Glibc

/// Which queue a verb works on.
package enum QueueChoice: Sendable, Hashable {
    /// The one of the environment or the user.
    case standard
    case system
    case file(String)

    package init(_ arguments: Arguments) throws(UsageError) {
        let path = arguments[.database]
        switch (path, arguments.has(.system)) {
        case (nil, false): self = .standard
        case (nil, true): self = .system
        case (let path?, false):
            guard !path.isEmpty else { throw UsageError("--database: the path is empty") }
            self = .file(path)
        case (_?, true):
            throw UsageError("--database and --system name two queues; give one of them")
        }
    }

    /// The database file.
    package var path: String {
        switch self {
        case .standard: QueueLocation.defaultPath()
        case .system: QueueLocation.systemPath
        case .file(let path): path
        }
    }

    /// Opens the queue for a verb, and closes it whatever happens.
    package func open<Result: Sendable>(
        via verb: String, source: String? = nil,
        _ body: (AlertManager) async throws -> Result
    ) async throws -> Result {
        let manager = try await AlertManager(path: path, source: source, via: verb)
        do {
            let result = try await body(manager)
            await manager.close()
            return result
        } catch {
            await manager.close()
            throw error
        }
    }

    /// The option that makes another process choose the same queue, whatever its environment.
    package static func option(forPath path: String) -> String? {
        if path == QueueLocation.userPath() { return nil }
        if path == QueueLocation.systemPath { return "--system" }
        return "--database " + ShellText.quoted(absolute(path))
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return String(cString: directory) + "/" + path
    }
}

/// Text as a POSIX shell reads it.
package enum ShellText {
    /// One word of a command line.
    package static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "_", ".", "-", "/", ":", "@", "+", ",": true
            default: false
            }
        }
        if isPlain, !word.isEmpty { return word }
        // Within single quotes only the quote itself means anything.
        let parts = word.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: "'\\''") + "'"
    }

    /// The command line that answers an alert with one of its buttons.
    package static func answer(_ id: Alert.ID, button: String, path: String) -> String {
        let option = QueueChoice.option(forPath: path)
        // What begins with a dash would be taken for an option.
        let words =
            button.hasPrefix("-")
            ? [option, "--", "\(id)", quoted(button)] : ["\(id)", quoted(button), option]
        return (["alertq", "answer"] + words.compactMap { $0 }).joined(separator: " ")
    }
}
