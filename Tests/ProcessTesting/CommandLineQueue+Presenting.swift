import Foundation
import Glibc
import TestSupport

extension CommandLineQueue {
    /// Writes a shell script next to the queue, and returns its path.
    package func script(_ name: String, _ body: String) throws -> String {
        try folder.script(name, body)
    }

    /// The lines of a file next to the queue; none if it does not exist.
    package func lines(_ name: String) -> [String] { folder.lines(name) }

    /// A process that shows alerts on a terminal, once others see that it does.
    package func screen(on terminal: PseudoTerminal) async throws -> Child {
        let screen = try start(["present"], on: terminal)
        let isThere = try await eventually(each: .milliseconds(20)) {
            try await run("doctor", "--json").output.contains("alerts are shown by")
        }
        guard isThere else { throw TestingError("no screen: \(terminal.text)") }
        return screen
    }

    /// A shell with job control, as users have it; `$A` is the command.
    package func shell(on terminal: PseudoTerminal) async throws -> Child {
        let shell = try Child(
            "bash", ["--norc", "-i"],
            environment: [
                "ALERTQ_DATABASE": path, "PS1": "ready> ", "HISTFILE": "", "A": Self.program,
            ], on: terminal)
        guard await terminal.shows("ready> ") else {
            throw TestingError("no shell: \(terminal.text)")
        }
        return shell
    }

    /// The letter of a process's state, or nothing if it has ended; see proc_pid_stat(5).
    package func state(of process: String) -> String {
        let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return stat?.split(separator: ") ").last.map { String($0.prefix(1)) } ?? ""
    }

    /// The processes that run with this queue in their environment, as `start` gives it and as
    /// every process hands it on; see proc(5).
    package var processes: [pid_t] {
        let mark = Data("ALERTQ_DATABASE=\(path)\0".utf8)
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { pid_t($0) }.filter { process in
            let environment = try? Data(contentsOf: URL(filePath: "/proc/\(process)/environ"))
            return environment?.range(of: mark) != nil
        }
    }

    /// Whether soon no process is left that has this queue in its environment.
    package func isDeserted() async -> Bool {
        await eventually { self.processes.isEmpty }
    }
}
