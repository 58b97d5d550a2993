import Foundation

/// How much the fault tests do: the short form in every run of the tests, or the full form.
///
/// `ALERTQ_FAULTS=full swift test --filter 'Faults|PostgreSQLStoreTests'` runs the full
/// form.
package enum FaultForm {
    package static let isFull = ProcessInfo.processInfo.environment["ALERTQ_FAULTS"] == "full"

    /// The number for this run.
    package static func count(short: Int, full: Int) -> Int { isFull ? full : short }

    /// Prints how much was done, without buffering, because the full form takes long.
    package static func report(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
