import AlertQueue
import Synchronization

/// Writes down what happens, in order.
final class Recorder: Sendable {
    private let entries = Mutex<[String]>([])

    var lines: [String] { entries.withLock { $0 } }

    func note(_ line: String) {
        entries.withLock { $0.append(line) }
    }
}

/// A delegate that writes down each call.
final class RecordingDelegate: AlertManagerDelegate {
    let recorder: Recorder
    let handling: CancelHandling

    init(_ recorder: Recorder, handling: CancelHandling = .simulateCancelButton) {
        self.recorder = recorder
        self.handling = handling
    }

    func willPresent(_ alert: AlertRecord) { recorder.note("willPresent") }
    func didPresent(_ alert: AlertRecord) { recorder.note("didPresent") }

    func clicked(_ alert: AlertRecord, buttonAt index: Int) { recorder.note("clicked \(index)") }

    func cancel(_ alert: AlertRecord) -> CancelHandling {
        recorder.note("cancel")
        return handling
    }

    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
        recorder.note("willDismiss \(index)")
    }

    func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
        recorder.note("didDismiss \(index)")
    }
}
