import AlertQueue
import AlertService
import Glibc
import Linux
import SQLiteStore

/// What this program does as a part of a benchmark that needs several processes.
enum ChildMode: String {
    /// Asks through the queue: path, count. Prints how long each took, in microseconds.
    case ask
    /// Asks through plain SQLite: path, count.
    case plain
    /// Commits and rings the bell at each line of input: path. Prints the time of each commit.
    case ring
    /// Waits for events: path.
    case listen
    /// Leaves a long write-ahead log, and dies of SIGKILL: path, count.
    case crash
    /// Reads a queue as a presenter does, and prints its memory in KiB: path.
    case memory
    /// Serves a queue over HTTP until its input ends: directory. Prints the path of the socket, or an
    /// empty line where it can't.
    case serve
    /// Asks through a service: socket, count.
    case request

    static let option = "--child"

    /// Runs the mode that the arguments name.
    static func run(_ arguments: [String]) async throws {
        guard arguments.count >= 2, let mode = ChildMode(rawValue: arguments[0]) else {
            throw BenchmarkError("\(option) is for the benchmarks' own use")
        }
        try await mode.run(path: arguments[1], count: arguments.last.flatMap { Int($0) } ?? 0)
    }

    private func run(path: String, count: Int) async throws {
        switch self {
        case .ask:
            let store = try await SQLiteAlertStore.open(path: path, busyTime: .seconds(60))
            Self.ready()
            var times: [Double] = []
            for _ in 0..<count {
                let start = ContinuousClock.now
                _ = try await store.enqueue(.sample, by: .bench)
                times.append((ContinuousClock.now - start).inMicroseconds)
            }
            await store.close()
            for time in times { print(time) }
        case .serve: try await Self.serve(in: path)
        case .request: try ServiceRequests.ask(path, count: count)
        case .plain: try Self.askPlainly(path: path, count: count)
        case .ring: try Self.ring(path: path)
        case .listen:
            let manager = try await AlertManager(path: path)
            print("ready")
            fflush(nil)
            for try await _ in manager.events {}
        case .crash:
            let store = try await SQLiteAlertStore.open(path: path)
            for _ in 0..<count { _ = try await store.enqueue(.sample, by: .bench) }
            kill(getpid(), SIGKILL)
        case .memory:
            let store = try await SQLiteAlertStore.open(path: path)
            _ = try await store.next(ScreenQuery(for: ["terminal"]))
            _ = try await store.pending(limit: 50)
            let status = LinuxFile.text("/proc/self/status") ?? ""
            for line in status.split(separator: "\n") where line.hasPrefix("VmHWM") {
                print(line.split(separator: " ").compactMap { Int($0) }.first ?? 0)
            }
            await store.close()
        }
    }

    /// Reports to the parent, and waits until all the others are ready, too.
    static func ready() {
        print("ready")
        fflush(nil)
        _ = readLine()
    }

    private static func serve(in directory: String) async throws {
        let path = directory + "/served.db"
        let sockets = try ServiceSockets(in: directory + "/sockets")
        let store = try await SQLiteAlertStore.open(path: path, isShared: true)
        let service = try QueueService(store, at: path, on: sockets)
        do {
            try service.serveHTTP(on: try sockets.listen(at: sockets.api), knowing: .kernel)
            print(sockets.api)
        } catch AlertError.missingLibrary {
            print("")
        }
        fflush(nil)
        await withCheckedContinuation { end in
            DedicatedThread.start {
                while readLine() != nil {}
                end.resume()
            }
        }
        await service.stop()
    }

    private static func askPlainly(path: String, count: Int) throws {
        let loop = try PlainLoop(path: path, busyMilliseconds: 60_000)
        ready()
        var times: [Double] = []
        for number in 0..<count {
            let start = ContinuousClock.now
            try loop.askAmongOthers(number)
            times.append((ContinuousClock.now - start).inMicroseconds)
        }
        for time in times { print(time) }
    }

    private static func ring(path: String) throws {
        let loop = try PlainLoop(path: path)
        let bell = open(path + "-bell", O_RDWR | O_CLOEXEC)
        guard bell >= 0 else { throw BenchmarkError("the queue has no bell") }
        ready()
        var number = 0
        repeat {
            number += 1
            try loop.ask(number)
            let committed = monotonicMicroseconds()
            // As the queue does it after its own commits.
            pwrite(bell, "*", 1, 0)
            print(committed)
            fflush(nil)
        } while readLine() != nil
    }
}

extension Question {
    /// The question that the benchmarks ask.
    static let sample = Question(
        alert: DurableAsk.question, source: "bench", pendingLimit: .max)
}

extension Caller {
    /// The caller that asks it.
    static let bench = Caller(via: "bench")
}

/// The clock that all processes of a machine share; see clock_gettime(2).
func monotonicMicroseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}
