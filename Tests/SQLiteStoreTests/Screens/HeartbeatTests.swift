import AlertCore
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Signs of life in the slot", .inParallel)
struct HeartbeatTests {
    private let queue: TemporaryQueue
    private let slot: SlotFile
    private let entry: SlotEntry

    init() throws {
        queue = try TemporaryQueue()
        slot = SlotFile(path: queue.path + "-slot", mode: 0o600)
        entry = try #require(try slot.attach(Self.screen("test")))
        #expect(entry.lead().leads)
    }

    private static func screen(_ presenter: String) -> AttachedScreen {
        AttachedScreen(identity: .current, presenters: [presenter], hasDelegate: false)
    }

    private var holder: AttachedScreen? { slot.leader()?.holder }

    /// Replaces the sign of life in the file with one of another moment or another program.
    private func write(sign: String) throws {
        let file = try FileHandle(forUpdating: URL(filePath: slot.path))
        let bytes = try #require(try file.read(upToCount: SlotFile.entryLength))
        #expect(bytes.count == SlotFile.entryLength)
        let head = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
        var text = bytes[...head] + Data((sign.isEmpty ? "\n" : sign + "\n").utf8)
        text += Data("1\n".utf8)
        text.append(Data(count: SlotFile.entryLength - text.count))
        try file.seek(toOffset: 0)
        try file.write(contentsOf: text)
        try file.close()
    }

    private func sign(ago seconds: Int64) -> String {
        let digits = String(decoding: Heartbeat.now.line.prefix(16), as: UTF8.self)
        return "\((Int64(digits) ?? 0) - seconds * 1000) \(SystemClock.namespace)"
    }

    @Test("After five seconds without a sign the holder is silent, until it gives the next one")
    func silence() throws {
        #expect(holder?.isThere == true)
        try write(sign: sign(ago: 4))
        #expect(holder?.isThere == true)
        try write(sign: sign(ago: 12))
        let silence = try #require(holder?.silence)
        // Reading it may take a while on a busy machine.
        #expect((12..<30).contains(silence.components.seconds))
        #expect(entry.show(7, current: 7, hasDelegate: false) == .written)
        #expect(holder?.alert == 7 && holder?.isThere == true)
        try write(sign: "")
        let before = try Data(contentsOf: URL(filePath: slot.path))
        entry.giveSign()
        #expect(try Data(contentsOf: URL(filePath: slot.path)) != before)
        #expect(holder?.isThere == true)
    }

    @Test(
        "A holder that gives no signs, or none that can be compared, counts as present",
        arguments: ["", "x", "12", "12 time:[1]", "99999999999999 here"])
    func unknown(sign: String) throws {
        try write(sign: sign)
        #expect(holder?.alert == nil && holder?.presenters == ["test"])
        #expect(holder?.isThere == true)
    }

    @Test("A sign from the future does not count as silence, and no number overflows")
    func extremes() throws {
        for number: Int64 in [.max, .min + 1] {
            try write(sign: "\(number) \(SystemClock.namespace)")
            #expect(holder?.isThere == (number > 0))
        }
    }

    @Test("A text that leaves no room for a sign stays complete, and counts as present")
    func noRoom() throws {
        entry.release()
        var wordy = AttachedScreen(identity: .current, presenters: [], hasDelegate: false)
        wordy.host = String(repeating: "h", count: 850)
        let entry = try #require(try slot.attach(wordy))
        #expect(entry.lead().leads)
        entry.giveSign()
        #expect(holder?.host == wordy.host && holder?.isThere == true)
    }

    @Test("A leader without a sign for 3.5 seconds is overtaken, and follows when it continues")
    func overtaken() throws {
        let other = try #require(try slot.attach(Self.screen("other")))
        #expect(entry.show(2, current: 2, hasDelegate: false) == .written)
        try write(sign: sign(ago: 2))
        #expect(!other.lead().leads && entry.leads && other.others.shows(2))
        try write(sign: sign(ago: 4))
        #expect(other.lead().leads)
        // Nobody can answer what a stopped screen shows.
        #expect(!other.others.shows(2))
        #expect(!entry.leads && !entry.lead().leads)
        // What it writes when it continues does not change that.
        #expect(entry.show(3, current: 3, hasDelegate: false) == .written)
        #expect(slot.roster().current == nil && slot.roster().shows(3))
        entry.giveSign()
        #expect(holder?.presenters == ["other"])
        other.stepBack()
        #expect(entry.lead().leads)
    }

    @Test("A slot file that can no longer be opened does not make a follower take the lead")
    func unopenable() throws {
        let other = try #require(try slot.attach(Self.screen("other")))
        #expect(!other.lead().leads)
        // Unlike one that was deleted or replaced, it is still the same file.
        let hidden = slot.path + "-hidden"
        try FileManager.default.moveItem(atPath: slot.path, toPath: hidden)
        try FileManager.default.createSymbolicLink(
            atPath: slot.path, withDestinationPath: hidden)
        #expect(!other.lead().leads && entry.leads)
        try FileManager.default.removeItem(atPath: slot.path)
        try FileManager.default.moveItem(atPath: hidden, toPath: slot.path)
    }

    @Test("A leader whose text was overwritten, or can't be compared, is not overtaken at once")
    func unreadable() throws {
        let other = try #require(try slot.attach(Self.screen("other")))
        try write(sign: "12 time:[1]")
        #expect(!other.lead().leads)
        let file = try FileHandle(forUpdating: URL(filePath: slot.path))
        try file.truncate(atOffset: 0)
        try file.close()
        #expect(!other.lead().leads && entry.leads)
        #expect(holder == .unknown)
        entry.giveSign()
        #expect(holder?.presenters == ["test"])
    }
}
