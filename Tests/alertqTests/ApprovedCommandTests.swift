import Foundation
import Glibc
import TestSupport
import Testing

@testable import alertq

@Suite("An approved command", .inParallel)
struct ApprovedCommandTests {
    private let folder: TemporaryDirectory
    private var link: String { folder.path + "/program" }

    init() throws { folder = try TemporaryDirectory("alertq-approved-") }

    @Test("The file that was shown is started, wherever its link has moved since the last check")
    func moved() async throws {
        let old = try folder.script("old", "echo \"old $0\" >\(folder.path)/ran")
        let new = try folder.script("new", "echo \"new $0\" >\(folder.path)/ran")
        symlink(old, link)
        let command = try ApprovedCommand([link])
        try command.checkIsUnchanged()
        unlink(link)
        symlink(new, link)
        let child = try command.start(signals: [], variables: [])
        #expect(await child.end()?.exitCode == 0)
        #expect(folder.lines("ran") == ["old \(try #require(realpathText(old)))"])
        #expect(throws: CommandError.self) { try command.checkIsUnchanged() }
    }

    @Test("A program that behaves by its name has the one that was typed")
    func name() async throws {
        symlink("/bin/sh", link)
        let output = folder.path + "/ran"
        let command = try ApprovedCommand([link, "-c", "echo $0 >\(output)"])
        #expect(command.path != link)
        let child = try command.start(signals: [], variables: [])
        #expect(await child.end()?.exitCode == 0)
        #expect(folder.lines("ran") == [link])
    }

    private func realpathText(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
