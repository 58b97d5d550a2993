import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Root's queue is in an existing directory; only another user's directory is created by asking.
@Suite(
    "New directories", .inParallel,
    .enabled(if: geteuid() == 0, "only root can become other users"),
    .enabled(if: Tool.hasTracer, "needs strace"))
struct NewDirectoryTests {
    static let user = LinuxAccount(uid: 60_001, gid: 60_001)

    @Test("The directories of a user's first queue are synced before anything is acknowledged")
    func synced() async throws {
        let home = "/tmp/alertq-home-\(UUID())"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: home) }
        chown(home, Self.user.uid, Self.user.gid)
        let log = home + "/calls"
        let asked = try await Child(
            Tool.tracer[0],
            Tool.tracer.dropFirst() + ["-f", "-y", "-o", log, "-e", "trace=mkdir,fsync,write"]
                + [CommandLineQueue.program, "notify", "Done"],
            environment: ["HOME": home, "XDG_STATE_HOME": home + "/state"], as: Self.user
        ).finish()
        #expect(asked.code == 0, "\(asked.errors)")
        let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let told = try #require(calls.firstIndex { $0.contains("write(1<") })
        for made in ["\(home)/state", "\(home)/state/alertq"] {
            let parent = (made as NSString).deletingLastPathComponent
            let making = try #require(calls.firstIndex { $0.contains("mkdir(\"\(made)\"") })
            #expect(
                calls[making..<told].contains {
                    $0.contains("fsync(") && $0.contains("<\(parent)>)")
                }, "\(made)")
        }
    }
}
