import Foundation

/// How much the fault tests do: the short form in every run of the tests, or the full form.
///
/// `ALERTQ_FAULTS=full swift test --filter Faults` runs the full form.
enum FaultForm {
    static let isFull = ProcessInfo.processInfo.environment["ALERTQ_FAULTS"] == "full"

    /// The number for this run.
    static func count(short: Int, full: Int) -> Int { isFull ? full : short }

    /// Prints how much was done, without buffering, because the full form takes long.
    static func report(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
