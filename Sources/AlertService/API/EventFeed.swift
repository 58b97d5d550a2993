import AlertCore
import HTTP
import Synchronization
import TextFormats

/// Sends the entries of the log to all who follow it, as server-sent events; it reads each entry
/// once, however many follow. See <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
final class EventFeed: Sendable {
    /// Proxies end what has been silent for a minute, and some for half of that.
    private static let heartbeat = Duration.seconds(15)
    /// How many may follow at once, and how many of one principal.
    private static let limits = (all: 2048, each: 1024)
    /// How many entries are kept for those who have just read the log up to there.
    private static let recentLimit = 1000
    private static let pageLimit = 100

    private struct Frame {
        let cursor: AuditHead
        let bytes: [UInt8]
    }

    private struct Live {
        let stream: HTTPStream
        /// The entry up to which it has the log already.
        var cursor: AuditHead
    }

    private struct State {
        /// Those that get each new entry.
        var live: [ObjectIdentifier: Live] = [:]
        /// The last entries that were sent, oldest first.
        var recent: [Frame] = []
        /// The last entry that was sent, or the end of the log when the feed began.
        var head: AuditHead?
        var tasks: [Task<Void, Never>] = []
        var isOver = false
    }

    private let store: any AlertStore
    private let state = Mutex(State())
    private let shares = Shares("streams", limits.each, ofAll: limits.all)

    init(_ store: any AlertStore) { self.store = store }

    /// Ends all streams, whose clients come again.
    func stop() {
        let (streams, tasks) = state.withLock { state in
            state.isOver = true
            defer { (state.live, state.tasks) = ([:], []) }
            return (state.live.values.map(\.stream), state.tasks)
        }
        for task in tasks { task.cancel() }
        for stream in streams { Self.end(stream) }
    }

    private static func end(_ stream: HTTPStream) {
        _ = stream.send("retry: 1000\n\n".utf8)
        stream.end()
    }

    /// Begins to send all entries after one; those from now on if there is none.
    ///
    /// - Throws: ``Problem`` if too many follow, and the errors of reading.
    func follow(
        after cursor: AuditHead?, for principal: Principal
    ) async throws -> HTTPStream {
        try shares.take(principal)
        state.withLock { start(&$0) }
        do throws(AlertError) {
            let (page, start, isKnown) = try await begin(after: cursor)
            let stream = HTTPStream { [weak self] in self?.leave(principal) }
            _ = stream.send(
                "event: resume\nid: \(start.cursor)\ndata: \(isKnown ? "ok" : "gap")\n\n".utf8)
            Task { await catchUp(stream, page, after: start) }
            return stream
        } catch {
            leave(principal)
            throw error
        }
    }

    /// The first entries after a cursor; those from now on, where the log doesn't have it.
    private func begin(
        after cursor: AuditHead?
    ) async throws(AlertError) -> (page: [AuditEntry], start: AuditHead, isKnown: Bool) {
        do throws(AlertError) {
            if let cursor {
                let page = try await store.entries(after: cursor, limit: Self.pageLimit)
                return (page, cursor, true)
            }
        } catch .unknownCursor {
            // The log was replaced.
        }
        return ([], try await store.auditHead() ?? .start, cursor == nil)
    }

    private func leave(_ principal: Principal) {
        shares.giveBack(principal)
        state.withLock { state in
            state.live = state.live.filter { !$0.value.stream.isOver }
        }
    }

    /// Sends what the log has, until the follower gets the new entries like all others.
    private func catchUp(
        _ stream: HTTPStream, _ first: [AuditEntry], after start: AuditHead
    ) async {
        var (page, cursor) = (first, start)
        while !state.withLock({ $0.isOver }) {
            for entry in page {
                guard await stream.sendPatiently(Self.frame(entry).bytes) else { return }
            }
            cursor = page.last?.event.cursor ?? cursor
            if page.count < Self.pageLimit, join(stream, after: cursor) { return }
            do {
                page = try await store.entries(after: cursor, limit: Self.pageLimit)
            } catch {
                break
            }
        }
        Self.end(stream)
    }

    /// Has a follower get each new entry; returns `false` if it still lacks others.
    private func join(_ stream: HTTPStream, after cursor: AuditHead) -> Bool {
        state.withLock { state in
            guard !state.isOver, let head = state.head else { return false }
            if head.sequence > cursor.sequence {
                let first = state.recent.first?.cursor.sequence ?? .max
                guard first <= cursor.sequence + 1 else { return false }
            }
            let live = Live(stream: stream, cursor: cursor)
            guard let live = Self.sending(state.recent, to: live) else { return false }
            state.live[ObjectIdentifier(stream)] = live
            return true
        }
    }

    // MARK: - The reader

    private func start(_ state: inout State) {
        guard state.tasks.isEmpty, !state.isOver else { return }
        state.head = store.position.head
        state.tasks = [Task { await read() }, Task { await beat() }]
    }

    private func beat() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.heartbeat)
            for stream in state.withLock({ $0.live.values.map(\.stream) }) {
                _ = stream.send(":\n\n".utf8)
            }
        }
    }

    private func read() async {
        while !Task.isCancelled {
            do throws(AlertError) {
                try await readOn()
            } catch {
                // Those who follow come again, from where they are.
                var head: AuditHead?
                if case .unknownCursor = error { head = (try? await store.auditHead()) ?? .start }
                let streams = state.withLock { state in
                    if let head { (state.head, state.recent) = (head, []) }
                    defer { state.live = [:] }
                    return state.live.values.map(\.stream)
                }
                for stream in streams { Self.end(stream) }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Waits for entries, and sends them.
    private func readOn() async throws(AlertError) {
        var position = LogPosition(state.withLock { $0.head } ?? .start)
        while !Task.isCancelled {
            position = try await store.news(after: position, of: .everybody).position
            var page: [AuditEntry]
            repeat {
                let head = state.withLock { $0.head } ?? .start
                page = try await store.entries(after: head, limit: Self.pageLimit)
                let frames = page.map(Self.frame)
                state.withLock { state in
                    guard let last = frames.last else { return }
                    state.head = last.cursor
                    state.recent = (state.recent + frames).suffix(Self.recentLimit)
                    for (id, live) in state.live {
                        state.live[id] = Self.sending(frames, to: live)
                        guard state.live[id] == nil else { continue }
                        // It reads on by itself, as fast as it can.
                        Task { await catchUp(live.stream, [], after: live.cursor) }
                    }
                }
            } while page.count == Self.pageLimit
        }
    }

    /// Sends what a follower doesn't have yet; `nil` if it has left too much unread for that.
    private static func sending(_ frames: [Frame], to live: Live) -> Live? {
        let missing = frames.filter { $0.cursor.sequence > live.cursor.sequence }
        guard live.stream.hasRoom(for: missing.reduce(0) { $0 + $1.bytes.count }) else {
            return nil
        }
        var live = live
        for frame in missing {
            _ = live.stream.send(frame.bytes)
            live.cursor = frame.cursor
        }
        return live
    }

    private static func frame(_ entry: AuditEntry) -> Frame {
        let event = entry.event
        let text =
            "id: \(event.cursor.text)\nevent: \(event.kind.rawValue)\ndata: "
            + AlertJSON.value(entry).line + "\n"
        return Frame(cursor: event.cursor, bytes: Array(text.utf8))
    }
}

extension AuditHead {
    /// The cursor after this entry, as clients send it back.
    var cursor: String { sequence > 0 ? text : "0" }
}
