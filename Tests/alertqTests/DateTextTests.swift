import AlertQueue
import FoundationEssentials
import Glibc
import Testing

@testable import alertq

@Suite("Moments")
struct DateTextTests {
    @Test(
        "A moment with an offset is that moment everywhere",
        arguments: [
            ("2026-11-20T10:00:00Z", 1_795_168_800_000),
            ("2026-11-20t10:00:00.5z", 1_795_168_800_500),
            ("2026-11-20 10:00:00.123456Z", 1_795_168_800_123),
            ("2026-11-20T10:00:00+01:30", 1_795_163_400_000),
            ("2026-11-20T23:30:00-01:00", 1_795_221_000_000),
            ("2028-02-29T00:00Z", 1_835_395_200_000),
            ("2h", 1_795_161_780_000), ("7d", 1_794_564_180_000),
        ])
    func absolute(text: String, milliseconds: Int64) throws {
        let date = try DateText.parse(text, now: Sample.now)
        #expect(Timestamp.milliseconds(date) == milliseconds)
    }

    @Test(
        "A moment without an offset is a local one",
        arguments: ["2026-11-20", "2026-11-20T00:00", "2026-11-20 00:00:00"])
    func local(text: String) throws {
        let date = try DateText.parse(text, now: Sample.now)
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        localtime_r(&seconds, &parts)
        #expect([parts.tm_year, parts.tm_mon, parts.tm_mday] == [126, 10, 20])
        #expect([parts.tm_hour, parts.tm_min, parts.tm_sec] == [0, 0, 0])
    }

    @Test(
        "What is no moment is refused",
        arguments: [
            "", "yesterday", "2026", "2026-11", "2026-13-01", "2026-02-29", "2026-00-10",
            "2026-11-20T", "2026-11-20T24:00", "2026-11-20T10", "2026-11-20T10:00:00.Z",
            "2026-11-20T10:00:00+0100", "2026-11-20T10:00Zx", "0d", "-7d", "1969-12-31",
            "20261120-", "2026-11-2٠",
        ])
    func refused(text: String) throws {
        let error = try #require(throws: UsageError.self) {
            try DateText.parse(text, now: Sample.now)
        }
        #expect(error.description.contains("is not a time"))
    }
}
