import Glibc

let benchmarks: [any Benchmark.Type] = [DurableAsk.self, WholeStory.self]

do {
    try await Report.run(Array(CommandLine.arguments.dropFirst()), benchmarks)
} catch {
    let line = Array("alertq-bench: \(error)\n".utf8)
    write(STDERR_FILENO, line, line.count)
    exit(1)
}
