import Glibc
import Linux
import SQLiteStore

/// How soon a commit is heard in another process, and what waiting for one costs.
enum Bells: Benchmark {
    static let name = "bell"
    static let abstract = "From a commit in one process until another process hears of it"

    static func run(_ plan: Plan) async throws -> [Row] {
        var (middles, ends, shares): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<plan.rounds {
            let times = try await times(count: plan.count(300))
            middles.append(times.median)
            ends.append(times.percentile(99))
            shares.append(try await share(seconds: plan.isSmall ? 0.2 : 5))
        }
        return [
            .bound(name, "commit to heard, p50", middles.median, unit: "µs", atMost: 150),
            .bound(name, "commit to heard, p99", ends.median, unit: "µs", atMost: 500),
            .bound(name, "a waiting process", shares.median, unit: "% core", atMost: 0.1),
        ]
    }

    private static func times(count: Int) async throws -> [Double] {
        let workspace = try Workspace()
        let path = workspace.path("queue.db")
        let store = try await SQLiteAlertStore.open(path: path)
        let child = try BenchmarkChild(.ring, path)
        _ = child.line()
        var times: [Double] = []
        for number in 0..<count + 10 {
            var (position, isHeard) = (store.position, false)
            child.go()
            // A periodic check wakes the waiter once a second, even without a change.
            while !isHeard {
                let news = try await store.news(after: position, of: .others)
                (position, isHeard) = (news.position, news.hasChanged)
            }
            let heard = monotonicMicroseconds()
            guard let committed = child.line().flatMap(Double.init) else {
                throw BenchmarkError("the process that commits has ended")
            }
            // The first rounds start threads.
            if number >= 10 { times.append(heard - committed) }
            // A few milliseconds of silence, so that both processes are asleep.
            try await Task.sleep(for: .milliseconds(2))
        }
        await store.close()
        return times
    }

    /// The share of a core that a process waiting for events uses, in percent.
    private static func share(seconds: Double) async throws -> Double {
        let workspace = try Workspace()
        let path = workspace.path("queue.db")
        try await SQLiteAlertStore.open(path: path).close()
        let child = try BenchmarkChild(.listen, path)
        _ = child.line()
        // Starting up does not count as waiting.
        try await Task.sleep(for: .milliseconds(300))
        let (before, start) = (try nanoseconds(of: child.pid), ContinuousClock.now)
        try await Task.sleep(for: .seconds(seconds))
        let used = try nanoseconds(of: child.pid) - before
        return used / 1e9 / (ContinuousClock.now - start).inSeconds * 100
    }

    /// The processor time of all threads of a process; see proc(5), `schedstat`.
    private static func nanoseconds(of pid: pid_t) throws -> Double {
        let path = "/proc/\(pid)/task"
        guard let directory = opendir(path) else { throw BenchmarkError("can't read \(path)") }
        defer { closedir(directory) }
        var total = 0.0
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard Int(name) != nil else { continue }
            let text = LinuxFile.text("\(path)/\(name)/schedstat") ?? ""
            total += text.split(separator: " ").first.flatMap { Double($0) } ?? 0
        }
        return total
    }
}
