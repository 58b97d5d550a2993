import AlertCore

/// A delegate that records each call.
package final class RecordingDelegate: AlertManagerDelegate {
    package let recorder: Recorder
    package let handling: CancelHandling

    package init(_ recorder: Recorder, handling: CancelHandling = .simulateCancelButton) {
        self.recorder = recorder
        self.handling = handling
    }

    package func willPresent(_ alert: AlertRecord) { recorder.note("willPresent") }
    package func didPresent(_ alert: AlertRecord) { recorder.note("didPresent") }

    package func clicked(_ alert: AlertRecord, buttonAt index: Int) {
        recorder.note("clicked \(index)")
    }

    package func cancel(_ alert: AlertRecord) -> CancelHandling {
        recorder.note("cancel")
        return handling
    }

    package func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
        recorder.note("willDismiss \(index)")
    }

    package func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
        recorder.note("didDismiss \(index)")
    }
}
