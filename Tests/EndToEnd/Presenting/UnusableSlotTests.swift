import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Queues whose slot file is something else: no screen can be attached there.
@Suite("Slot files that can't be used", .inParallel)
struct UnusableSlotTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    enum Obstacle: CaseIterable {
        case directory, pipe, link

        func make(at path: String) throws {
            switch self {
            case .directory: try #require(mkdir(path, 0o700) == 0)
            case .pipe: try #require(mkfifo(path, 0o600) == 0)
            case .link: try #require(symlink("/nowhere/at/all", path) == 0)
            }
        }
    }

    @Test(
        "Presenting with an unusable slot file fails at once, and doctor fails, too",
        arguments: Obstacle.allCases)
    func refused(obstacle: Obstacle) async throws {
        #expect(try await queue.run("notify", "Hello").code == 0)
        let slot = queue.path + "-slot"
        try? FileManager.default.removeItem(atPath: slot)
        try obstacle.make(at: slot)
        let presented = try await queue.run("present", "--once", "--on", "command:true")
        #expect(presented.code == (obstacle == .directory ? 74 : 77), "\(presented)")
        #expect(presented.errors.contains(slot), "\(presented)")
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == presented.code, "\(doctor)")
        #expect(doctor.output.contains("files: ") && doctor.output.contains(slot), "\(doctor)")
        #expect(doctor.output.contains("mv \(slot) "))
        // An ask without a screen needs no slot file.
        #expect(try await queue.run("list", "--count").output == "1\n")
        try FileManager.default.removeItem(atPath: slot)
        #expect(try await queue.run("doctor").code == 0)
        #expect(try await queue.run("present", "--once", "--on", "command:true").code == 0)
    }
}
