import AlertPresenters
import Glibc

/// Runs benchmarks and prints the results, as a table or as JSON.
enum Report {
    static func run(_ arguments: [String], _ benchmarks: [any Benchmark.Type]) async throws {
        let options = try Options(arguments, known: benchmarks.map { $0.name })
        if options.isList { return list(benchmarks) }
        if options.isHelp { return help(benchmarks) }
        SlowDisk.begin(microseconds: options.plan.syncDelay)
        if !options.isJSON {
            print(Machine.description)
            print(head)
        }
        for benchmark in benchmarks
        where options.names.isEmpty || options.names.contains(benchmark.name) {
            for row in try await benchmark.run(options.plan) {
                print(options.isJSON ? json(row) : line(row))
                fflush(nil)
            }
        }
    }

    private static func list(_ benchmarks: [any Benchmark.Type]) {
        for benchmark in benchmarks {
            print(DisplayWidth.padded(benchmark.name, to: 11) + benchmark.abstract)
        }
    }

    private static func help(_ benchmarks: [any Benchmark.Type]) {
        print(
            """
            Usage: alertq-bench [OPTION …] [BENCHMARK …]

            Compares the queue with plain SQLite in Swift and in C, with a job queue, and with the
            disk, in interleaved rounds of one run. A rate is printed with the time of one
            operation, or with its share of the time where several run at once. Files are created in
            $ALERTQ_BENCH_DIRECTORY, or else in /var/tmp.

              --alerts N  How many alerts wait, and how many were answered (default: 1000000)
              --full      The same as --alerts 10000000
              --keep DIR  Keep the filled queues in DIR, and reuse those that are there already
              --program P The alertq to start as a process (default: the one next to this program)
              --rounds N  How often everything is measured in turn (default: 5)
              --sync-delay MICROSECONDS
                          Slow down each sync, on both sides, so that a fast disk can stand in for
                          a slow one; leave out measurements of other programs
              --small     Check within seconds that everything works, and measure nothing
              --json      Print results as JSON, one object per line
              --list      List the benchmarks

            """)
        list(benchmarks)
    }

    private static let widths = [9, 38, 19, 19, 10, 14]

    private static let head = cells([
        "", "measured", "alertq", "plain", "figure", "target",
    ])

    static func line(_ row: Row) -> String {
        cells([
            row.benchmark, row.measured, value(row.ours, row.unit, row.microseconds),
            row.plain.map { value($0, row.unit, row.plainMicroseconds) } ?? "-",
            number(row.figure), row.target,
        ]) + (row.target.isEmpty ? "" : row.isMet ? "yes" : "NO")
    }

    /// A value with its unit, and for a rate the time of one operation, too.
    private static func value(_ value: Double, _ unit: String, _ microseconds: Double?) -> String {
        let time = microseconds.map { ", \(number($0)) µs" } ?? ""
        return "\(number(value)) \(unit)\(time)"
    }

    private static func cells(_ texts: [String]) -> String {
        zip(texts, widths).map { DisplayWidth.padded($0, to: $1) }.joined(separator: " ")
    }

    /// About three significant digits.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        if value >= 100 { return "\(Int(value.rounded()))" }
        return value >= 0.1 || value == 0
            ? "\((value * 100).rounded() / 100)" : "\((value * 10_000).rounded() / 10_000)"
    }

    static func json(_ row: Row) -> String {
        let plain = row.plain.map { "\($0)" } ?? "null"
        let times = [row.microseconds, row.plainMicroseconds].map {
            $0.map { "\($0)" } ?? "null"
        }
        return #"{"benchmark":"\#(row.benchmark)","measured":"\#(row.measured)","#
            + #""alertq":\#(row.ours),"plain":\#(plain),"unit":"\#(row.unit)","#
            + #""figure":\#(row.figure),"reach":"\#(row.target)","reached":\#(row.isMet),"#
            + #""alertq_us":\#(times[0]),"plain_us":\#(times[1])}"#
    }
}
