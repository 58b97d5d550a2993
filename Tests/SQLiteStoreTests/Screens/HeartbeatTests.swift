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
    private let lease: SlotLease

    init() async throws {
        queue = try TemporaryQueue()
        slot = SlotFile(path: queue.path + "-slot", mode: 0o600)
        lease = try SlotLease(of: Self.screen("test"), in: slot, changes: ChangeSignal())
        #expect(await lead(lease, "test"))
    }

    private static func screen(_ presenter: String) -> AttachedScreen {
        AttachedScreen(caller: Caller(via: "test"), presenters: [presenter], hasDelegate: false)
    }

    /// Announces a screen that wants the lead; returns whether it has it.
    private func lead(
        _ lease: SlotLease, _ presenter: String, showing alert: Alert.ID? = nil
    ) async -> Bool {
        var screen = Self.screen(presenter)
        screen.show(alert, current: alert)
        return await lease.announce(screen, wantsLead: true).isLeading
    }

    private var holder: AttachedScreen? { slot.roster().leader }

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
        "\(Heartbeat.milliseconds - seconds * 1000) \(SystemClock.namespace)"
    }

    @Test("After five seconds without a sign the holder is silent, until it gives the next one")
    func silence() async throws {
        #expect(holder?.isThere == true)
        try write(sign: sign(ago: 4))
        #expect(holder?.isThere == true)
        try write(sign: sign(ago: 12))
        let silence = try #require(holder?.silence)
        // Reading it may take a while on a busy machine.
        #expect((12..<30).contains(silence.components.seconds))
        #expect(await lead(lease, "test", showing: 7))
        #expect(holder?.alert == 7 && holder?.isThere == true)
        try write(sign: "")
        let before = try Data(contentsOf: URL(filePath: slot.path))
        lease.giveSign()
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
    func noRoom() async throws {
        lease.release()
        var wordy = AttachedScreen(caller: Caller(via: "test"), presenters: [], hasDelegate: false)
        wordy.process.host = String(repeating: "h", count: 850)
        let lease = try SlotLease(of: wordy, in: slot, changes: ChangeSignal())
        #expect(await lease.announce(wordy, wantsLead: true).isLeading)
        lease.giveSign()
        #expect(holder?.process.host == wordy.process.host && holder?.isThere == true)
    }

    @Test("A leader without a sign for 3.5 seconds is overtaken, and follows when it continues")
    func overtaken() async throws {
        let other = try SlotLease(
            of: Self.screen("other"), in: slot, changes: ChangeSignal())
        #expect(await lead(lease, "test", showing: 2))
        try write(sign: sign(ago: 2))
        let before = await other.announce(Self.screen("other"), wantsLead: true)
        #expect(!before.isLeading && before.others?.shows(2) == true)
        try write(sign: sign(ago: 4))
        let after = await other.announce(Self.screen("other"), wantsLead: true)
        // Nobody can answer what a stopped screen shows.
        #expect(after.isLeading && after.others?.shows(2) == false)
        // What it writes when it continues does not change that.
        #expect(await !lead(lease, "test", showing: 3))
        #expect(slot.roster().current == nil && slot.roster().shows(3))
        lease.giveSign()
        #expect(holder?.presenters == ["other"])
        #expect(await !other.announce(Self.screen("other"), wantsLead: false).isLeading)
        #expect(await lead(lease, "test"))
    }

    @Test("A slot file that can no longer be opened does not make a follower take the lead")
    func unopenable() async throws {
        let other = try SlotLease(
            of: Self.screen("other"), in: slot, changes: ChangeSignal())
        #expect(await !lead(other, "other"))
        // Unlike one that was deleted or replaced, it is still the same file.
        let hidden = slot.path + "-hidden"
        try FileManager.default.moveItem(atPath: slot.path, toPath: hidden)
        try FileManager.default.createSymbolicLink(
            atPath: slot.path, withDestinationPath: hidden)
        #expect(await !lead(other, "other"))
        try FileManager.default.removeItem(atPath: slot.path)
        try FileManager.default.moveItem(atPath: hidden, toPath: slot.path)
        #expect(holder?.presenters == ["test"])
    }

    @Test("A leader whose text was overwritten, or can't be compared, is not overtaken at once")
    func unreadable() async throws {
        let other = try SlotLease(
            of: Self.screen("other"), in: slot, changes: ChangeSignal())
        try write(sign: "12 time:[1]")
        #expect(await !lead(other, "other"))
        let file = try FileHandle(forUpdating: URL(filePath: slot.path))
        try file.truncate(atOffset: 0)
        try file.close()
        #expect(await !lead(other, "other"))
        #expect(holder == .unreadable)
        lease.giveSign()
        #expect(holder?.presenters == ["test"])
    }
}
