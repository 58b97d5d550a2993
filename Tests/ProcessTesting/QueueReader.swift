import Glibc
import Linux
import TestSupport

/// A program that reads a queue, and goes on reading the state that it saw first.
package final class QueueReader: Sendable {
    private let process: Child
    /// The program ends once this is closed.
    private let script: Descriptor

    /// Returns when it has begun.
    package init(of queue: CommandLineQueue) async throws {
        let pipe = try Pipe(waits: true)
        let process = try Child("sqlite3", [queue.path], input: pipe.reading.raw)
        guard pipe.writing.write("BEGIN; SELECT count(*) FROM alerts;\n".utf8),
            await eventually({ process.output.text.hasSuffix("\n") })
        else { throw TestingError("nobody reads \(queue.path)") }
        self.process = process
        script = pipe.writing
    }

    package var pid: pid_t { process.pid }

    /// Has it killed, and waits for that.
    package func end() async {
        process.kill(SIGKILL)
        _ = await process.exit()
    }
}
