import AlertCore
import Foundation
import StoreTesting
import Testing

@testable import SQLiteStore

@Suite("Signs of life in the slot")
struct HeartbeatTests {
    private let queue: TemporaryQueue
    private let slot: PresentationSlot
    private let hold: SlotHold

    init() throws {
        queue = try TemporaryQueue()
        slot = PresentationSlot(path: queue.path + "-slot", mode: 0o600)
        hold = try #require(
            try slot.take(
                SlotHolder(identity: .current, presenters: ["test"], hasDelegate: false)))
    }

    /// Replaces the sign in the file, as if it were of another moment or another program.
    private func write(sign: String) throws {
        let file = try FileHandle(forUpdating: URL(filePath: slot.path))
        let bytes = try #require(try file.read(upToCount: PresentationSlot.textLength))
        #expect(bytes.count == PresentationSlot.textLength)
        let head = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
        var text = bytes[...head] + Data(sign.utf8)
        text.append(Data(count: PresentationSlot.textLength - text.count))
        try file.seek(toOffset: 0)
        try file.write(contentsOf: text)
        try file.close()
    }

    private func sign(ago seconds: Int64) -> String {
        let digits = String(decoding: Heartbeat.now.line.prefix(16), as: UTF8.self)
        return "\((Int64(digits) ?? 0) - seconds * 1000) \(SystemClock.boot)\n"
    }

    @Test("After five seconds without a sign the holder is silent, and with the next one not")
    func silence() throws {
        #expect(slot.holder()?.isThere == true)
        try write(sign: sign(ago: 4))
        #expect(slot.holder()?.isThere == true)
        try write(sign: sign(ago: 12))
        let silence = try #require(slot.holder()?.silence)
        #expect(silence.components.seconds == 12)
        #expect(hold.show(7, hasDelegate: false))
        #expect(slot.holder()?.alert == 7 && slot.holder()?.isThere == true)
        try write(sign: "")
        let before = try Data(contentsOf: URL(filePath: slot.path))
        hold.giveSign()
        #expect(try Data(contentsOf: URL(filePath: slot.path)) != before)
        #expect(slot.holder()?.isThere == true)
    }

    @Test(
        "A holder that gives no signs, or none that can be compared, counts as there",
        arguments: ["", "x", "12", "12 another-boot time:[1]\n", "99999999999999 here\n"])
    func unknown(sign: String) throws {
        try write(sign: sign)
        #expect(slot.holder()?.alert == nil && slot.holder()?.presenters == ["test"])
        #expect(slot.holder()?.isThere == true)
    }

    @Test("A sign from the future is no silence, and no number overflows")
    func extremes() throws {
        for number: Int64 in [.max, .min + 1] {
            try write(sign: "\(number) \(SystemClock.boot)\n")
            #expect(slot.holder()?.isThere == (number > 0))
        }
    }

    @Test("A text that leaves no room for a sign stays whole, and counts as there")
    func noRoom() throws {
        hold.release()
        var holder = SlotHolder(identity: .current, presenters: [], hasDelegate: false)
        holder.host = String(repeating: "h", count: 850)
        let hold = try #require(try slot.take(holder))
        hold.giveSign()
        #expect(slot.holder()?.host == holder.host && slot.holder()?.isThere == true)
    }
}
