import Foundation
import Glibc
import TestSupport
import Testing

@testable import TextFormats

@Suite("Local time", .inParallel)
struct LocalTimeTests {
    /// The output of strftime(3) in the zone of this process.
    private func written(_ date: Date, _ format: String) -> String {
        var time = LocalTime.fields(date)
        var buffer = [CChar](repeating: 0, count: 100)
        let count = strftime(&buffer, buffer.count, format, &time)
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static let moments = [0, 1_700_000_000, 1_720_000_000.999, 4_000_000_000, -1.5]

    @Test("Every part is in the process's zone", arguments: moments)
    func zone(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(LocalTime.text(date, .whole).hasPrefix(written(date, "%Y-%m-%d %H:%M:%S ")))
        #expect(LocalTime.seconds(date) == written(date, "%H:%M:%S"))
        let zone = LocalTime.text(date, .whole).split(separator: " ").last ?? ""
        #expect(zone == written(date, "%Z") || zone.wholeMatch(of: /[+-]\d\d:\d\d/) != nil)
    }

    @Test("A moment today is a time of day; on another day it has its date and zone")
    func days() {
        let noon = Date(timeIntervalSince1970: 1_700_000_000)
        #expect(LocalTime.text(noon, .brief(now: noon)) == written(noon, "%H:%M"))
        for days in [-400.0, -365, -1, 1, 366] {
            let other = noon.addingTimeInterval(days * 86_400)
            let text = LocalTime.text(other, .brief(now: noon))
            #expect(text.hasPrefix(written(other, "%Y-%m-%d %H:%M ")), "\(text)")
        }
    }

    @Test("The form for programs is UTC")
    func utc() {
        let date = Date(timeIntervalSince1970: 1.5)
        #expect(LocalTime.text(date, .utc) == "1970-01-01T00:00:01.500Z")
    }

    @Test("No moment is too far away", arguments: [-1e18, -1e15, 1e15, 1e300, .infinity, .nan])
    func far(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(!LocalTime.text(date, .whole).isEmpty)
        #expect(!LocalTime.text(date, .brief(now: .now)).isEmpty)
    }
}
