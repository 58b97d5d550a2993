import Glibc
import Linux
import TestSupport

/// A program that reads a queue, and keeps reading the state that it saw first.
package final class QueueReader: Sendable {
    private let process: Child
    /// The program ends once this is closed.
    private let script: Descriptor

    /// Returns once it has begun to read.
    package init(of queue: CommandLineQueue) async throws {
        let pipe = try Pipe(waits: true)
        let process = try Child("sqlite3", [queue.path], input: pipe.reading.raw)
        guard pipe.writing.write("BEGIN; SELECT count(*) FROM alerts;\n".utf8),
            await eventually({ process.output.text.hasSuffix("\n") })
        else { throw TestingError("no process reads \(queue.path)") }
        self.process = process
        script = pipe.writing
    }

    package var pid: pid_t { process.pid }

    /// Kills it, and waits for its end.
    package func end() async {
        process.kill(SIGKILL)
        _ = await process.exit()
    }
}
