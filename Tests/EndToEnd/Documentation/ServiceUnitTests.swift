import Foundation
import ProcessTesting
import TestSupport
import Testing

/// The units of the article about services.
@Suite("The units of a service", .inParallel)
struct ServiceUnitTests {
    @Test("systemd finds nothing wrong with them", .needsSystemd)
    func units() async throws {
        let queue = try CommandLineQueue()
        let article = CodeBlock.articles + "RunningAService.md"
        var paths: [[String]] = []
        for block in try CodeBlock.all("ini", in: article) {
            let name = try #require(block.text.split(separator: "\n").first).dropFirst(2)
            let kind = name.hasPrefix("/etc/") ? "system" : "user"
            let folder = "\(queue.directory)/\(kind)"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            let path = folder + "/" + (name.split(separator: "/").last ?? "")
            try block.text.replacing("/usr/local/bin/alertq", with: CommandLineQueue.program)
                .write(toFile: path, atomically: true, encoding: .utf8)
            paths.append(["--\(kind)", path])
        }
        #expect(paths.count == 4)
        for path in paths {
            let verified = await (try verify(path, in: queue)).finish()
            #expect(verified.code == 0 && verified.errors == "", "\(path): \(verified)")
        }
        // The control: it reads them.
        let service = try #require(paths.last)
        let text = try String(contentsOfFile: service[1], encoding: .utf8)
        try text.replacing("WatchdogSec", with: "WatchdogSeconds")
            .write(toFile: service[1], atomically: true, encoding: .utf8)
        let refused = await (try verify(service, in: queue)).finish()
        #expect(refused.errors.contains("WatchdogSeconds"), "\(refused)")
    }

    private func verify(_ words: [String], in queue: CommandLineQueue) throws -> Child {
        try Child(
            "systemd-analyze", ["--man=no", "verify"] + words,
            environment: ["XDG_RUNTIME_DIR": queue.directory])
    }
}
