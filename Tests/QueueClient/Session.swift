import AlertQueue
import Foundation

/// Runs the requests on standard input in order; those with a `tag` run concurrently.
///
/// `{"do":"open","path":P,"source":S}` comes first. Then, with optional fields in brackets, and for
/// `ask` also `handler` and `snooze`:
///
/// | request | reply |
/// |---|---|
/// | `ask` title [buttons key timeout priority default source message] | the alert, `joined` |
/// | `answer` id button · `withdraw` id · `cancel` id | the alert |
/// | `snooze` id [for] · `collect` id · `record` id or key | the alert |
/// | `wait` id: until it is resolved | the alert |
/// | `list` [limit] · `history` [limit] · `count` | `alerts`, or `count` |
/// | `verify` · `head` | `entries` and `problems`; `sequence` and `hash` |
/// | `play` client seed operations history [deadlines]: see ``Play`` | `{}` when it is over |
/// | `crowd` name askers answerers seconds: see ``Crowd`` | `asked`, `answers`, `errors` |
/// | `close` | `{}`; a new `open` may follow |
///
/// Times are in milliseconds. Each reply has `ms`, the time that it took. A failure is
/// `{"error":CASE,"text":SENTENCE}`, with the winner's `alert`, `outcome`, `button` and `pid` if
/// another response came first.
actor Session {
    private var manager: AlertManager?

    static func main() async -> Never {
        let session = Session()
        let lines = Lines()
        while let line = lines.next() {
            let tag = Request(line)?.fields["tag"]
            if tag == nil {
                await session.handle(line)
            } else {
                Task.detached { await session.handle(line) }
            }
        }
        await session.close()
        exit(0)
    }

    private nonisolated func handle(_ line: String) async {
        let start = ContinuousClock.now
        var reply: [String: Any]
        do {
            guard let request = Request(line) else { throw Request.Mistake("not an object") }
            reply = try await perform(request)
        } catch {
            reply = Reply.failure(error)
        }
        let time = ContinuousClock.now - start
        reply["ms"] =
            Double(time.components.seconds) * 1e3
            + Double(time.components.attoseconds) / 1e15
        reply["tag"] = Request(line)?.fields["tag"]
        Reply.print(reply)
    }

    private nonisolated func perform(_ request: Request) async throws -> sending [String: Any] {
        switch try request.text("do") {
        case "open":
            try await open(request)
            return [:]
        case "close":
            await close()
            return [:]
        default: break
        }
        guard let manager = await manager else { throw Request.Mistake("not open") }
        return try await request.run(on: manager)
    }

    private func open(_ request: Request) async throws {
        await manager?.close()
        manager = nil
        manager = try await AlertManager(
            path: request.text("path"), source: request.fields["source"] as? String)
    }

    private func close() async {
        await manager?.close()
        manager = nil
    }
}

/// The lines of standard input.
private final class Lines {
    func next() -> String? { readLine() }
}
