import Foundation

/// The sanitizer that the tests and the programs that they run are built with.
package enum Sanitizer {
    /// `address` or `thread`, as `.ci/sanitize` sets it; each brings memory and a library of its
    /// own.
    package static let name = ProcessInfo.processInfo.environment["ALERTQ_SANITIZER"]
}
