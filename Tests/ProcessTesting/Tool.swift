import Foundation
import Glibc
import TestSupport
import Testing

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

    /// Whether a tracer has attached to all threads of a process; it does so one after another.
    package static func isAttached(_ tracer: pid_t, to process: pid_t) -> Bool {
        let threads = "/proc/\(process)/task"
        let numbers = try? FileManager.default.contentsOfDirectory(atPath: threads)
        return numbers?.allSatisfy { number in
            let status = try? String(contentsOfFile: "\(threads)/\(number)/status", encoding: .utf8)
            return status?.contains("TracerPid:\t\(tracer)\n") == true
        } == true
    }

    /// Whether a process can have a clock of its own: the libraries of faketime and of a sanitizer
    /// both have to be loaded first.
    package static let canFakeClocks = isInstalled("faketime") && Sanitizer.name == nil

    package static let hasCompiler = isInstalled("clang") || isInstalled("cc")

    /// Whether tests with systemd's programs run; where everything is tried, they fail without them.
    package static let hasSystemd =
        isInstalled("systemd-socket-activate") || getenv("ALERTQ_TRY_ALL") != nil

    /// Whether tests with HTTP run; where everything is tried, they fail without the library.
    package static let hasHTTP =
        dlopen("libmicrohttpd.so.12", RTLD_NOW) != nil || getenv("ALERTQ_TRY_ALL") != nil

    /// Whether tests with a proxy run.
    package static func hasProxy(_ name: String) -> Bool {
        hasHTTP && access("/usr/sbin/\(name)", X_OK) == 0 || getenv("ALERTQ_TRY_ALL") != nil
    }

    private static func isInstalled(_ name: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that open so many files, if the limit of this process may be raised to that: see
    /// getrlimit(2).
    package static func needsDescriptors(_ count: UInt) -> Self {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let mayOpen = limit.rlim_max >= count
        return .enabled(if: mayOpen, "a process may not open \(count) files")
    }

    /// For tests that need systemd's programs.
    package static var needsSystemd: Self {
        .enabled(if: Tool.hasSystemd, "systemd is not installed")
    }

    /// For tests with HTTP.
    package static var needsHTTP: Self {
        .enabled(if: Tool.hasHTTP, "libmicrohttpd is not installed")
    }
}
