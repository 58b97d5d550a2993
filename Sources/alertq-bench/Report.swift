import AlertPresenters
import AlertQueue
import FoundationEssentials
import Glibc

/// Runs benchmarks and tells what came out, as a table or as JSON.
enum Report {
    static func run(_ arguments: [String], _ benchmarks: [any Benchmark.Type]) async throws {
        var (isJSON, rounds, names) = (false, 5, Set<String>())
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--list": return list(benchmarks)
            case "--help", "-h": return help(benchmarks)
            case "--rounds":
                guard let number = rest.popFirst().flatMap(Int.init), number > 0 else {
                    throw BenchmarkError("--rounds takes a number above 0")
                }
                rounds = number
            default:
                guard benchmarks.contains(where: { $0.name == word }) else {
                    throw BenchmarkError("unknown benchmark “\(word)”; see --list")
                }
                names.insert(word)
            }
        }
        if !isJSON { print(head) }
        for benchmark in benchmarks where names.isEmpty || names.contains(benchmark.name) {
            for row in try await benchmark.run(rounds: rounds) {
                print(isJSON ? json(row) : line(row))
            }
        }
    }

    private static func list(_ benchmarks: [any Benchmark.Type]) {
        for benchmark in benchmarks {
            print(DisplayWidth.padded(benchmark.name, to: 10) + benchmark.abstract)
        }
    }

    private static func help(_ benchmarks: [any Benchmark.Type]) {
        print(
            """
            Usage: alertq-bench [--json] [--rounds N] [BENCHMARK …]

            Measures the queue beside plain SQLite and the disk, in interleaved rounds of one run.
            The files are made in $ALERTQ_BENCH_DIRECTORY, else in /var/tmp.

            """)
        list(benchmarks)
    }

    private static let widths = [8, 26, 14, 14, 10, 12]

    private static let head = cells([
        "", "measured", "alertq", "plain", "figure", "reach",
    ])

    private static func line(_ row: Row) -> String {
        cells([
            row.benchmark, row.measured, number(row.ours) + " " + row.unit,
            row.plain.map { number($0) + " " + row.unit } ?? "-", number(row.figure), row.reach,
        ]) + (row.reach.isEmpty ? "" : row.isReached ? "yes" : "NO")
    }

    private static func cells(_ texts: [String]) -> String {
        zip(texts, widths).map { DisplayWidth.padded($0, to: $1) }.joined(separator: " ")
    }

    /// Three digits that say something.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        if value >= 100 { return "\(Int(value.rounded()))" }
        return "\((value * 100).rounded() / 100)"
    }

    private static func json(_ row: Row) -> String {
        let plain = row.plain.map { "\($0)" } ?? "null"
        return #"{"benchmark":"\#(row.benchmark)","measured":"\#(row.measured)","#
            + #""alertq":\#(row.ours),"plain":\#(plain),"unit":"\#(row.unit)","#
            + #""figure":\#(row.figure),"reach":"\#(row.reach)","reached":\#(row.isReached)}"#
    }
}
