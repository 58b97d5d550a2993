import AlertQueue
import FoundationEssentials
import PostgreSQL
import PostgreSQLStore

/// A queue in PostgreSQL, compared with the same rows through plain libpq.
///
/// `ALERTQ_BENCH_SERVER` names the database, such as `postgresql:///bench?host=/run/postgresql`;
/// without it nothing is measured. Queues that it makes there stay.
enum ServerQueues: Benchmark {
    static let name = "server"
    static let abstract = "A queue in the PostgreSQL database that $ALERTQ_BENCH_SERVER names"

    static func run(_ plan: Plan) async throws -> [Row] {
        guard let uri = ProcessInfo.processInfo.environment["ALERTQ_BENCH_SERVER"] else {
            return []
        }
        return try await asks(uri, plan) + screens(uri, plan) + history(uri, plan)
    }

    /// A new queue in the database.
    private static func location(
        _ uri: String, host: String = "bench"
    ) throws -> (text: String, value: PostgreSQLLocation) {
        let text =
            uri + (uri.contains("?") ? "&" : "?")
            + "queue=bench-\(UInt64.random(in: .min ... .max))"
        let value = try PostgreSQLLocation(text + "&host_name=\(host)")
        try PostgreSQLSchema.setUp(value)
        return (text, value)
    }

    // MARK: Asks

    private static func asks(_ uri: String, _ plan: Plan) async throws -> [Row] {
        var (plain, one, many): ([Double], [Double], [Double]) = ([], [], [])
        var waits: [Double] = []
        for _ in 0..<plan.rounds {
            let baseline = try location(uri)
            plain.append(
                try PlainServerLoop(baseline.text, queue: baseline.value.queue)
                    .rate(count: plan.count(1000)))
            let place = try location(uri).value
            one.append(try await rate(place, tasks: 1, count: plan.count(1000)).rate)
            let (rate, times) = try await rate(
                place, tasks: 64, count: max(64, plan.count(12_800)))
            many.append(rate)
            waits += times
        }
        return [
            .rate(name, "ask, 1 caller", ours: one.median, plain: plain.median, atLeast: 0.8),
            .rate(name, "ask, 64 tasks", ours: many.median, plain: plain.median, atLeast: 8),
            .reference(
                name, "ask, 64 tasks, p99", waits.percentile(99) / 1000, unit: "ms"),
        ]
    }

    private static func rate(
        _ place: PostgreSQLLocation, tasks: Int, count: Int
    ) async throws -> (rate: Double, times: [Double]) {
        let store = try await PostgreSQLAlertStore.open(place)
        let result = try await DurableAsk.rate(of: store, tasks: tasks, count: count)
        await store.close()
        return result
    }

    // MARK: Screens

    /// From an ask on one host until a screen on another has it, and until it is answered.
    private static func screens(_ uri: String, _ plan: Plan) async throws -> [Row] {
        let text = try location(uri).text
        let stopwatch = Stopwatch()
        let screen = try await AlertManager(
            path: text + "&host_name=screen", presenters: [stopwatch])
        let asker = try await AlertManager(path: text + "&host_name=asker")
        var (appearances, answers): ([Double], [Double]) = ([], [])
        for number in 0..<plan.count(200) + 20 {
            // Questions do not come in a loop, in which notifications are held back.
            if !plan.isSmall { try await Task.sleep(for: .milliseconds(250)) }
            let asked = ContinuousClock.now
            _ = try await asker.ask(DurableAsk.question)
            let answered = ContinuousClock.now
            guard number >= 20 else { continue }
            appearances.append((stopwatch.lastAppearance - asked).inMicroseconds / 1000)
            answers.append((answered - asked).inMicroseconds / 1000)
        }
        for manager in [asker, screen] { await manager.close() }
        return [
            .bound(
                name, "ask to a screen of another host, p50", appearances.median, unit: "ms",
                atMost: 15),
            .reference(
                name, "ask to a screen of another host, p99", appearances.percentile(99),
                unit: "ms"),
            .reference(
                name, "ask to its answer on another host, p50", answers.median, unit: "ms"),
        ]
    }

    // MARK: History

    /// How many alerts are moved from a file; the rest are copies of them.
    private static let moved = 20_000

    /// Pages of a queue that was moved from a file, and then made as long as the plan says.
    private static func history(_ uri: String, _ plan: Plan) async throws -> [Row] {
        let moved = min(plan.alerts, moved)
        var filling = plan
        // It is moved, so no other run can use it.
        filling.directory = nil
        let file = try await FilledQueue.make(resolved: moved, waiting: 0, plan: filling)
        let place = try location(uri)
        let start = ContinuousClock.now
        _ = try await QueueLocation(file.path).move(
            to: QueueLocation(place.text), host: "bench", by: .bench
        ) { _, _, _ in }
        let moving = (ContinuousClock.now - start).inSeconds
        try multiply(moved, by: plan.alerts / moved, in: place.value, uri)
        let store = try await PostgreSQLAlertStore.open(place.value)
        let newest = try await store.history(HistoryFilter(), limit: 1, after: nil)
        let now = newest.first?.response?.resolvedAt ?? Date()
        let size = Double(plan.alerts)
        let searches: [(String, @Sendable (inout HistoryFilter) -> Void)] = [
            ("all", { _ in }),
            ("source", { $0.source = "backup" }),
            ("rare source", { $0.source = Sample.rareSource }),
            ("answered", { $0.outcome = .answered }),
            ("withdrawn", { $0.outcome = .withdrawn }),
            ("user", { $0.user = Sample.user }),
            ("since", { $0.since = now - size / 100 }),
            ("until", { $0.until = now - 9 * size / 100 }),
            ("source + answered", { ($0.source, $0.outcome) = ("agent", .answered) }),
            ("text", { $0.text = "disk77" }),
            ("text of all", { $0.text = "question" }),
        ]
        var rows: [Row] = [
            .reference(
                name, "move of \(moved) alerts to the server", moving, unit: "s")
        ]
        for (label, set) in searches {
            var filter = HistoryFilter()
            set(&filter)
            var times: [Double] = []
            for round in 0..<plan.count(100) + 2 {
                let start = ContinuousClock.now
                _ = try await store.history(
                    filter, limit: 50, after: round % 4 == 3 ? Alert.ID(plan.alerts / 2) : nil)
                if round >= 2 { times.append((ContinuousClock.now - start).inMicroseconds) }
            }
            rows.append(
                .bound(
                    name, "history of \(PageTimes.size(plan)): \(label), p50",
                    times.median / 1000, unit: "ms", atMost: 5))
        }
        await store.close()
        return rows
    }

    /// Copies the alerts of a queue behind themselves; the copies have no entries in the log, which
    /// pages of the history do not read.
    private static func multiply(
        _ count: Int, by factor: Int, in place: PostgreSQLLocation, _ uri: String
    ) throws {
        let db = try Connection(uri)
        try db.execute("SET search_path = alertq, pg_temp")
        db.timeLimit = .seconds(600)
        let queue = try db.first("SELECT id FROM queues WHERE name = $1", .text(place.queue)) {
            $0.integer()
        }
        try db.execute(
            """
            CREATE TEMPORARY TABLE copies AS SELECT * FROM alerts WHERE queue = \(queue ?? 0);
            CREATE TEMPORARY TABLE step AS SELECT max(id) AS id, max(resolved_seq) AS seq,
                max(resolved_ms) - min(resolved_ms) + 1 AS ms FROM copies
            """)
        for _ in 1..<max(factor, 1) {
            try db.execute(
                """
                UPDATE copies SET id = copies.id + step.id, key = NULL,
                    resolved_seq = resolved_seq + step.seq, resolved_ms = resolved_ms + step.ms
                FROM step;
                INSERT INTO alerts SELECT * FROM copies
                """)
        }
        // As the server does by itself within minutes.
        try db.execute("VACUUM ANALYZE alerts")
    }
}

/// The baseline: the same rows with the same lock of the head, in as few round trips, through
/// plain libpq.
private struct PlainServerLoop {
    private let db: Connection
    private let queue: Value
    private let source: Value
    private let principal: Value

    init(_ uri: String, queue name: String) throws {
        db = try Connection(String(uri.split(separator: "&queue=")[0]))
        try db.execute("SET search_path = alertq")
        let id = try db.first("SELECT id FROM queues WHERE name = $1", .text(name)) {
            $0.integer()
        }
        queue = .integer(id ?? 0)
        let insertion = """
            INSERT INTO sources (queue, id, principal, name)
            SELECT $1, coalesce(max(id), 0) + 1, '0', $2 FROM sources RETURNING id
            """
        source = try db.first(insertion, queue, "bench") { .integer($0.integer()) } ?? .null
        principal = try db.first(insertion, queue, "") { .integer($0.integer()) } ?? .null
    }

    /// How many questions are stored per second.
    func rate(count: Int) throws -> Double {
        for number in 1...50 { try ask(number) }
        return try .rate(count) { for number in 51...50 + count { try ask(number) } }
    }

    private func ask(_ number: Int) throws {
        let hash =
            [UInt8](repeating: 0, count: 24) + withUnsafeBytes(of: number.bigEndian, Array.init)
        let before =
            [UInt8](repeating: 0, count: 24)
            + withUnsafeBytes(of: (number - 1).bigEndian, Array.init)
        let id = Value.integer(Int64(number))
        let now = Value.integer(Int64(Date().timeIntervalSince1970 * 1000))
        try db.begin(
            [
                Statement("SELECT * FROM heads WHERE queue = $1 FOR UPDATE", queue),
                Statement("SELECT clock_timestamp()"),
            ])
        let outcome = db.commit(
            [
                Statement(
                    """
                    INSERT INTO alerts (queue, id, source_id, pid, host, style, priority, title,
                        message, buttons, info, salt, boot, asked_ms, asked_boot_ms, queued_seq)
                    VALUES ($1, $2, $3, 1, 'host', 'alert', 1, 'Prune old snapshots?', '40 GB',
                        '[{"id":"yes","title":"Yes"},{"id":"no","role":"cancel","title":"No"}]',
                        '{}', $4, 'postgresql', $5, $5, $2)
                    """, queue, id, source, .blob(Array(hash[..<16])), now),
                Statement(
                    """
                    INSERT INTO audit (queue, seq, at_ms, event, alert_id, source, principal, "user",
                        via, host, boot, pid, content, detail, previous, hash)
                    VALUES ($1, $2, $3, 'asked', $2, 'bench', '0', 'root', 'bench', 'host',
                        'postgresql', 1, $4, $5, $6, $4)
                    """, queue, id, now, .blob(hash),
                    .text(String(repeating: "d", count: 93)), .blob(before)),
                Statement("UPDATE sources SET pending = pending + 1 WHERE id = $1", source),
                Statement("UPDATE sources SET pending = pending + 1 WHERE id = $1", principal),
                Statement(
                    """
                    UPDATE heads SET seq = $2, hash = $3, at_ms = $4, last_id = $2
                    WHERE queue = $1
                    """, queue, id, .blob(hash), now),
            ])
        guard case .committed = outcome else { throw BenchmarkError("\(outcome)") }
    }
}
