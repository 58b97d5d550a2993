import Foundation
import Glibc
import TestSupport

/// A queue in a directory of its own, used through the built command.
package final class CommandLineQueue: Sendable {
    let folder: TemporaryDirectory
    package var directory: String { folder.path }
    /// The path of its database, or the URI of the server that it is on.
    package let path: String
    /// What it needs for as long as it is used.
    private let support: [any Sendable]
    /// What programs find in their environment.
    private let variables: [String: String]

    /// The prefix of the names of all files of these tests.
    private static let beginning = "alertq-e2e-"
    private static let temporary = FileManager.default.temporaryDirectory
        .appending(path: beginning).path

    /// The command that was built with the tests, where every user can start it.
    package static let program: String = {
        let copy = temporary + "\(getpid())"
        // By a process of its own: a descriptor that writes it must not leak into a child of
        // another test, because the copy could not be started then (ETXTBSY).
        let built = BuiltProgram.path("alertq")
        guard let install = try? Child("install", ["-m", "755", built, copy]), install.wait() == 0
        else { return built }
        atexit { unlink(CommandLineQueue.temporary + "\(getpid())") }
        return copy
    }()

    package init(mode: mode_t = 0o700) throws {
        folder = try TemporaryDirectory(Self.beginning)
        path = folder.path + "/queue.db"
        (support, variables) = ([], [:])
        chmod(directory, mode)
    }

    /// A queue in a directory as `doctor --setup-system` makes it: shared by its group, closed to
    /// others. Only root can make it for a group that is not its own.
    package convenience init(sharedBy group: gid_t) throws {
        try self.init()
        guard chown(directory, 0, group) == 0, chmod(directory, 0o2770) == 0 else {
            throw POSIXError(.EPERM)
        }
    }

    /// A queue with the files of another one, or with none if the directory is empty.
    package init(copyOf other: String) throws {
        folder = try TemporaryDirectory(Self.beginning, copyOf: other)
        path = folder.path + "/queue.db"
        (support, variables) = ([], [:])
    }

    /// A queue on a server.
    package init(at location: String) throws {
        folder = try TemporaryDirectory(Self.beginning)
        path = location
        (support, variables) = ([], [:])
    }

    /// A queue behind a service, which ends with it.
    package init(behind service: Service) throws {
        folder = try TemporaryDirectory(Self.beginning)
        path = service.location
        (support, variables) = ([service], [:])
    }

    /// A queue that is reached through a server, which ends with it.
    package init(
        at location: String, over server: SSHServer, keeping other: CommandLineQueue? = nil
    ) throws {
        folder = try TemporaryDirectory(Self.beginning)
        path = location
        support = [server] + [other].compactMap(\.self)
        variables = ["PATH": server.programs + ":/usr/bin:/bin"]
    }

    /// Starts a verb of the command on this queue, under a program such as strace(1) if needed.
    package func start(
        _ arguments: [String], under wrapper: [String] = [], on terminal: PseudoTerminal? = nil,
        as account: LinuxAccount? = nil, environment: [String: String] = [:]
    ) throws -> Child {
        var variables = variables.merging(environment) { $1 }
        variables["ALERTQ_DATABASE"] = path
        let words = wrapper + [Self.program] + arguments
        return try Child(
            words[0], Array(words.dropFirst()), environment: variables, on: terminal, as: account)
    }

    /// Runs a verb to its end.
    package func run(_ arguments: String...) async throws -> Finished {
        try await start(arguments).finish()
    }

    /// Asks something in a process that is killed while it waits, so that its log stays.
    package func askAndKill(_ title: String) async throws {
        let asker = try start(["ask", title, "-b", "yes"])
        _ = await eventually { asker.errors.text.contains("waiting for an answer") }
        asker.kill(SIGKILL)
        _ = await asker.exit()
    }

    /// Runs a verb to its end where what has the name of a library is none.
    package func run(without library: String, _ words: [String]) async throws -> Finished {
        try await start(words, environment: try environment(without: library)).finish()
    }

    /// The environment of a program for which what has the name of a library is none.
    func environment(without library: String) throws -> [String: String] {
        let libraries = directory + "/libraries"
        try FileManager.default.createDirectory(
            atPath: libraries, withIntermediateDirectories: true)
        try Data("not a library".utf8).write(to: URL(filePath: "\(libraries)/\(library)"))
        return ["LD_LIBRARY_PATH": libraries]
    }

    /// Runs a verb to its end in the foreground of a terminal of its own, as a person does; what it
    /// writes there is its errors.
    package func runInTerminal(
        _ arguments: String..., as account: LinuxAccount? = nil
    ) async throws -> Finished {
        let terminal = try PseudoTerminal(columns: 400)
        let finished = try await start(arguments, on: terminal, as: account).finish()
        return Finished(
            code: finished.code, output: finished.output, errors: terminal.text)
    }

    /// The rows of a query, as the `sqlite3` shell prints them.
    package func rows(_ sql: String) async throws -> [String] {
        let child = try Child("sqlite3", [path, sql])
        _ = await child.exit()
        return await child.output.complete().split(separator: "\n").map(String.init)
    }

    /// Changes rows as a forger with write access does, bypassing triggers and checks.
    package func forge(_ sql: String) async throws {
        let child = try Child(
            "sqlite3",
            [path, ".dbconfig enable_trigger off", "PRAGMA ignore_check_constraints = ON", sql])
        _ = await child.exit()
    }

    /// Runs a verb with `--json`, and returns its objects.
    package func objects(_ arguments: String...) async throws -> [[String: any Sendable]] {
        let child = try start(arguments + ["--json"])
        _ = await child.exit()
        return try await child.output.complete().split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return (object as? [String: any Sendable]) ?? [:]
        }
    }

    /// Whether the audit log verifies and the database is whole.
    package func isSound() async throws -> Bool {
        let verify = try await run("audit", "verify")
        let check = try Child(
            "sqlite3", [path, "PRAGMA integrity_check; PRAGMA foreign_key_check;"])
        _ = await check.exit()
        let integrity = await check.output.complete()
        return verify.code == 0 && integrity == "ok\n"
    }
}

extension Finished {
    /// Whether it was refused as it should be: with one of the command's own codes and a sentence.
    package var isRefusal: Bool { [65, 74, 75, 77].contains(code) && isReported }

    /// Whether it says what went wrong; with `--json`, as an object.
    package var isReported: Bool {
        ["alertq: ", "{\"error\":"].contains(where: errors.hasPrefix)
    }
}
