import CLinux
import Glibc

extension Descriptor {
    /// Reads the events of an inotify instance that only watches files, so that none has a name.
    package func watchesWithEvents() -> Set<Int32> {
        var numbers: Set<Int32> = []
        while let events = read(), !events.isEmpty {
            for start in stride(from: 0, to: events.count, by: MemoryLayout<inotify_event>.size) {
                let event = events.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                }
                numbers.insert(event.wd)
            }
        }
        return numbers
    }
}
