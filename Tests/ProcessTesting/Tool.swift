import Foundation
import TestSupport

/// Programs that some faults need; without them these tests are left out, and say so.
package enum Tool {
    package static let hasTracer = isInstalled("strace")
    /// The words that run a program under strace(1). The address sanitizer looks for leaks as a
    /// tracer, where there may be only one.
    package static let tracer: [String] =
        if Sanitizer.name == "address" {
            ["strace", "-E", "ASAN_OPTIONS=\(sanitizerOptions):detect_leaks=0"]
        } else {
            ["strace"]
        }
    private static let sanitizerOptions =
        ProcessInfo.processInfo.environment["ASAN_OPTIONS"] ?? ""

    package static let hasCompiler = isInstalled("clang") || isInstalled("cc")

    private static func isInstalled(_ name: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }
}
