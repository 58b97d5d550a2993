import AlertPresenters
import Glibc

/// Runs benchmarks and tells what came out, as a table or as JSON.
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

            Measures the queue beside plain SQLite in Swift and in C, beside what a job queue
            does, and beside the disk, in interleaved rounds of one run. A rate also says how
            long one operation takes, or its share of the time where several run at once.
            The files are made in $ALERTQ_BENCH_DIRECTORY, else in /var/tmp.

              --alerts N  How many alerts wait, and how many were answered; 1000000 unless given
              --full      The same as --alerts 10000000
              --keep DIR  Keep the filled queues there, and use those that are there already
              --program P The alertq to start as a process, else the one beside this program
              --rounds N  How often everything is measured in turn; 5 unless given
              --sync-delay MICROSECONDS
                          Adds to each sync, for both sides, so that a fast disk can stand for a
                          slow one; leaves out what other programs do
              --small     A run of seconds, which shows that it works and measures nothing
              --json      One object a line
              --list      What can be measured

            """)
        list(benchmarks)
    }

    private static let widths = [9, 38, 19, 19, 10, 14]

    private static let head = cells([
        "", "measured", "alertq", "plain", "figure", "reach",
    ])

    static func line(_ row: Row) -> String {
        cells([
            row.benchmark, row.measured, value(row.ours, row.unit, row.microseconds),
            row.plain.map { value($0, row.unit, row.plainMicroseconds) } ?? "-",
            number(row.figure), row.reach,
        ]) + (row.reach.isEmpty ? "" : row.isReached ? "yes" : "NO")
    }

    /// A value with its unit, and a rate with the time of one operation, too.
    private static func value(_ value: Double, _ unit: String, _ microseconds: Double?) -> String {
        let time = microseconds.map { ", \(number($0)) µs" } ?? ""
        return "\(number(value)) \(unit)\(time)"
    }

    private static func cells(_ texts: [String]) -> String {
        zip(texts, widths).map { DisplayWidth.padded($0, to: $1) }.joined(separator: " ")
    }

    /// Three digits that say something.
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
            + #""figure":\#(row.figure),"reach":"\#(row.reach)","reached":\#(row.isReached),"#
            + #""alertq_us":\#(times[0]),"plain_us":\#(times[1])}"#
    }
}
