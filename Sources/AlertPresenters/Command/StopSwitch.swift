import AlertCore
import CLinux
import Glibc
import Linux

/// Wakes a thread that waits in poll(2), so that it stops.
final class StopSwitch: Sendable {
    private let event: Descriptor

    init() throws(ProgramError) {
        do {
            event = try Descriptor(clinux_event(), "make an event")
        } catch {
            throw ProgramError(error)
        }
    }

    /// Readable once the switch has been thrown.
    var descriptor: Int32 { event.raw }

    func stop() { clinux_event_ring(event.raw) }

    /// Waits for the switch; returns whether it was thrown within a time.
    func wait(_ time: Duration) -> Bool {
        var request = pollfd(fd: event.raw, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, Int32(clamping: max(0, time.milliseconds))) > 0
    }
}
