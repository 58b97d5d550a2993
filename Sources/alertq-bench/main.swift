import Glibc
import SQLiteStore

let onServers: [any Benchmark.Type] = [ServerQueues.self]

let benchmarks: [any Benchmark.Type] =
    [
        DurableAsk.self, ManyProcesses.self, ServiceRequests.self, RoundTrip.self, Bells.self,
        HistoryPages.self, TextPages.self, Purge.self, Opening.self, CommandProcesses.self,
        AuditVerification.self, Growth.self, LogPages.self,
    ] + onServers

signal(SIGPIPE, SIG_IGN)
SQLiteAlertStore.disableMemoryStatistics()
do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == ChildMode.option {
        SlowDisk.inherit()
        try await ChildMode.run(Array(arguments.dropFirst()))
    } else {
        try await Report.run(arguments, benchmarks)
    }
} catch {
    let line = Array("alertq-bench: \(error)\n".utf8)
    write(STDERR_FILENO, line, line.count)
    exit(1)
}
