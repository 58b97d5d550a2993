import AlertCore
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Entries of the slot", .inParallel)
struct SlotEntryTests {
    private func read(_ screen: AttachedScreen) throws -> AttachedScreen {
        let bytes = try #require(SlotEntry(of: screen, leading: 0).bytes)
        return try #require(SlotEntry(bytes[...])).screen
    }

    @Test("An entry tells everything of a screen but its boot")
    func everything() throws {
        var screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["desktop", "terminal"], only: 7,
            hasDelegate: true,
            keepsLog: true)
        screen.tty = "/dev/pts/3"
        screen.show(7, current: 8, hasDelegate: true)
        screen.isBusy = true
        let found = try read(screen)
        #expect(found.process.isCurrent && found.principal.user == screen.principal.user)
        screen.process.boot = nil
        #expect(found == screen)
    }

    @Test("A screen whose presenters don't all fit into its entry may show any alert")
    func manyNames() throws {
        let names = (0..<100).map { "presenter \($0)" }
        var screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: names, hasDelegate: false)
        let crowded = try read(screen)
        #expect(crowded.presenters.count < 100 && names.starts(with: crowded.presenters))
        #expect(crowded.mayShow(Alert("?", presenters: ["presenter 99"]), 1))
        screen.presenters = names.map { $0 + String(repeating: "\u{1}\\\"", count: 80) }
        let long = try read(screen)
        #expect(long.presenters.isEmpty && long.mayShow(Alert("?"), 1))
    }
}
