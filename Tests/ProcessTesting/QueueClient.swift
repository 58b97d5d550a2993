import Foundation
import Linux
import Synchronization
import TestSupport

/// A user of the library in a process of its own, driven line by line; `Tests/QueueClient` defines
/// its requests.
package final class QueueClient: Sendable {
    /// A reply of a client: the fields of one JSON object.
    package struct Reply: Sendable {
        package let fields: [String: any Sendable]

        package var error: String? { fields["error"] as? String }
        package var id: Int? { fields["id"] as? Int }
        package func text(_ name: String) -> String? { fields[name] as? String }
        package func number(_ name: String) -> Int? { fields[name] as? Int }
        /// How long it took in the client, in milliseconds.
        package var milliseconds: Double { fields["ms"] as? Double ?? .infinity }
    }

    /// The client ended, or was silent for too long.
    package struct Silence: Error, CustomStringConvertible {
        package let description: String
    }

    package let process: Child
    /// `nil` once the process has been asked to end.
    private let input: Mutex<Descriptor?>
    private let offset = Mutex(0)
    /// Replies that came while another one was awaited.
    private let early = Mutex<[Reply]>([])

    /// Starts a client on a queue; `words` go before the program, such as `unshare --time`.
    package init(
        on queue: CommandLineQueue, source: String = "client", after words: [String] = [],
        environment: [String: String] = [:]
    ) async throws {
        let pipe = try Linux.Pipe(waits: true)
        let command = words + [Self.program]
        process = try Child(
            command[0], Array(command.dropFirst()), environment: environment,
            input: pipe.reading.raw)
        input = Mutex(pipe.writing)
        let opened = try await ask("open", ["path": queue.path, "source": source])
        if let error = opened.error {
            throw Silence(description: "\(error): \(opened.text("text") ?? "")")
        }
    }

    private static let program = BuiltProgram.path("QueueClient")

    /// Makes one request, and waits for its reply.
    ///
    /// - Parameter pause: How long it waits between two looks for the reply.
    /// - Throws: ``Silence`` if the process has ended, or is silent for `seconds`.
    package func ask(
        _ verb: String, _ fields: [String: any Sendable] = [:], seconds: Int = 60,
        each pause: Duration = .milliseconds(1)
    ) async throws -> Reply {
        try send(verb, fields)
        do {
            return try await reply(seconds: seconds, each: pause)
        } catch let silence as Silence {
            throw Silence(description: "asked to \(verb): \(silence.description)")
        }
    }

    /// Makes a request without waiting; ``reply(to:seconds:)`` has the reply.
    package func send(_ verb: String, _ fields: [String: any Sendable] = [:]) throws {
        var request = fields
        request["do"] = verb
        var line = try JSONSerialization.data(withJSONObject: request)
        line.append(UInt8(ascii: "\n"))
        let isWritten = input.withLock { $0?.write(line) == true }
        guard isWritten else { throw Silence(description: "takes no more requests") }
    }

    /// The next reply to a request with this tag, which may come before or after the others; `nil`
    /// for the requests without a tag, which are answered in their order.
    package func reply(
        to tag: Int? = nil, seconds: Int = 60, each pause: Duration = .milliseconds(1)
    ) async throws -> Reply {
        var found: Reply?
        _ = try await eventually(within: .seconds(seconds), each: pause) {
            try Task.checkCancellation()
            // In this order: its last words are there once it has ended.
            let code = process.poll()
            found = try takeReply(to: tag)
            if found == nil, let code {
                throw Silence(description: "ended with \(code): \(process.errors.text)")
            }
            return found != nil
        }
        guard let found else {
            throw Silence(description: "nothing said for \(seconds) s: \(process.errors.text)")
        }
        return found
    }

    private func takeReply(to tag: Int?) throws -> Reply? {
        try early.withLock { early in
            while let line = takeLine() {
                let object = try JSONSerialization.jsonObject(with: Data(line))
                early.append(Reply(fields: object as? [String: any Sendable] ?? [:]))
            }
            return early.firstIndex { $0.number("tag") == tag }.map { early.remove(at: $0) }
        }
    }

    /// Ends the process in order, by ending its input.
    package func end() async -> Int32? {
        input.withLock { $0 = nil }
        return await process.exit()
    }

    private func takeLine() -> [UInt8]? {
        offset.withLock { offset in
            guard let line = process.output.line(from: offset) else { return nil }
            offset += line.count + 1
            return line
        }
    }
}
