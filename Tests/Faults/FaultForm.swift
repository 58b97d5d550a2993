import Foundation

/// How much the fault tests try: a short form with every run of the tests, and the full form.
///
/// `ALERTQ_FAULTS=full swift test --no-parallel --filter Faults` runs the full form.
enum FaultForm {
    static let isFull = ProcessInfo.processInfo.environment["ALERTQ_FAULTS"] == "full"

    /// The number for this run.
    static func count(short: Int, full: Int) -> Int { isFull ? full : short }

    /// Says how much was tried, at once, because the full form takes long.
    static func report(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}

/// Programs that some faults need; without them these tests are left out, and say so.
enum Tool {
    static let hasTracer = isInstalled("strace")
    /// Which sanitizer the programs are built with; each brings memory and a library of its own.
    static let sanitizer = ProcessInfo.processInfo.environment["ALERTQ_SANITIZER"]
    /// The words that run a program under strace(1). The address sanitizer looks for leaks as a
    /// tracer, where there may be only one.
    static let tracer: [String] =
        if sanitizer == "address" {
            ["strace", "-E", "ASAN_OPTIONS=\(sanitizerOptions):detect_leaks=0"]
        } else {
            ["strace"]
        }
    private static let sanitizerOptions =
        ProcessInfo.processInfo.environment["ASAN_OPTIONS"] ?? ""

    static let hasCompiler = isInstalled("clang") || isInstalled("cc")

    private static func isInstalled(_ name: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }
}
