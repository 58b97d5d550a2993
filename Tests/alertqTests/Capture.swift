import Synchronization

@testable import alertq

/// Text that was written during a test.
final class Capture: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    func output(columns: Int? = nil) -> Output {
        Output(columns: columns) { more throws(OutputError) in
            self.bytes.withLock { $0 += more }
        }
    }
}
