import AlertCore
import Foundation

/// A clock that another process moves: its reading is in a file.
package struct FileClock: AlertClock {
    private let path: String

    package init(path: String) { self.path = path }

    package func now() -> ClockReading {
        let file = try? Data(contentsOf: URL(filePath: path))
        guard let file, let reading = try? JSONDecoder().decode(Reading.self, from: file) else {
            return ClockReading(onWallClock: 0)
        }
        return reading.reading
    }

    package func sleep(for duration: Duration) async throws {
        try await sleep(until: now().advanced(by: duration))
    }

    package func sleep(until moment: ClockReading) async throws {
        while !now().isAtOrAfter(moment) { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// What is in the file.
    struct Reading: Codable {
        private let wallMilliseconds: Int64
        private let bootMilliseconds: Int64
        private let boot: String
        private let isBootUnknown: Bool

        init(_ reading: ClockReading) {
            wallMilliseconds = reading.wallMilliseconds
            bootMilliseconds = reading.bootMilliseconds
            boot = reading.boot
            isBootUnknown = reading.isBootUnknown
        }

        var reading: ClockReading {
            var reading = ClockReading(
                wallMilliseconds: wallMilliseconds, bootMilliseconds: bootMilliseconds,
                boot: boot)
            reading.isBootUnknown = isBootUnknown
            return reading
        }
    }
}
