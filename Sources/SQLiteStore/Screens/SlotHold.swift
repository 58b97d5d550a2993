import AlertCore
import FoundationEssentials
import Glibc
import Linux
import Synchronization

/// The slot, held by this process until it is released.
final class SlotHold: Sendable {
    private struct State {
        var descriptor: Descriptor?
        /// Where the sign of life stands; `nil` where the text leaves no room for it.
        var signOffset: Int?
    }

    private let state: Mutex<State>
    private let path: String
    private let holder: SlotHolder

    init(descriptor: Descriptor, path: String, holder: SlotHolder) {
        state = Mutex(State(descriptor: descriptor))
        self.path = path
        self.holder = holder
    }

    func show(_ alert: Alert.ID?, hasDelegate: Bool) -> Bool {
        state.withLock { state in
            guard let descriptor = state.descriptor, descriptor.isStill(at: path) else {
                return false
            }
            var holder = holder
            holder.alert = alert
            holder.hasDelegate = hasDelegate
            guard var text = try? JSONEncoder().encode(holder),
                text.count < PresentationSlot.textLength
            else { return false }
            text.append(UInt8(ascii: "\n"))
            let sign = Heartbeat.now.line
            let hasRoom = text.count + sign.count <= PresentationSlot.textLength
            state.signOffset = hasRoom ? text.count : nil
            if hasRoom { text.append(contentsOf: sign) }
            text.append(
                contentsOf: repeatElement(0, count: PresentationSlot.textLength - text.count))
            return text.withUnsafeBytes { bytes in
                pwrite(descriptor.raw, bytes.baseAddress, bytes.count, 0) == bytes.count
            }
        }
    }

    /// Writes that this process is there. That wakes nobody who watches the file.
    func giveSign() {
        state.withLock { state in
            guard let descriptor = state.descriptor, let offset = state.signOffset else { return }
            let sign = Heartbeat.now.line
            // A sign that can't be written is missed soon enough.
            pwrite(descriptor.raw, sign, sign.count, off_t(offset))
        }
    }

    var isValid: Bool {
        state.withLock { $0.descriptor?.isStill(at: path) ?? false }
    }

    func release() {
        state.withLock { state in
            if let held = state.descriptor {
                // The next holder is not to be taken for this one before it has written its text.
                let empty = [UInt8](repeating: 0, count: PresentationSlot.textLength)
                pwrite(held.raw, empty, empty.count, 0)
            }
            state = State()
        }
    }
}
