import AlertQueue
import FoundationEssentials
import Linux

/// A directory for the files of one benchmark, on the disk that is measured.
final class Workspace: Sendable {
    let directory: String

    init() throws {
        let parent = LinuxProcess.environment("ALERTQ_BENCH_DIRECTORY") ?? "/var/tmp"
        directory = parent + "/alertq-bench-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    func path(_ name: String) -> String { directory + "/" + name }
}
