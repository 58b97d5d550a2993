import CLinux
import Glibc
import Linux

/// Ends the waits of connections from another thread, once and for all.
///
/// Any number of connections may share one, such as those of a store that is being closed.
package final class Interruption: Sendable {
    /// Nobody reads it, so it stays readable; see eventfd(2).
    private let event: Descriptor

    package init() throws(LinuxError) {
        event = try Descriptor(clinux_event(), "make an event")
    }

    /// Makes every wait fail that is under way, and every later one at once.
    package func interrupt() { clinux_event_ring(event.raw) }

    var descriptor: Int32 { event.raw }
}

/// Ends the wait of a connection for notifications for as long as it rings.
package final class Bell: Sendable {
    private let event: Descriptor

    package init() throws(LinuxError) {
        event = try Descriptor(clinux_event(), "make an event")
    }

    package func ring() { clinux_event_ring(event.raw) }

    package func silence() {
        var count: UInt64 = 0
        // It does not block.
        _ = read(event.raw, &count, MemoryLayout.size(ofValue: count))
    }

    var descriptor: Int32 { event.raw }
}
