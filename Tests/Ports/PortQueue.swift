import Foundation
import StoreTesting

/// A queue of a test's own.
final class PortQueue: Sendable {
    /// Where programs have their queues.
    enum Place: CaseIterable {
        case file
        case server

        static var tried: [Place] {
            ServerQueue.isTried ? allCases : [.file]
        }
    }

    let path: String
    /// The directory of a file, which is deleted after the test.
    private let directory: String

    init(in place: Place) async throws {
        directory =
            FileManager.default.temporaryDirectory.appending(path: "alertq-port-\(UUID())").path
        switch place {
        case .file:
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true)
            path = directory + "/queue.db"
        case .server: path = try await ServerQueue.make()
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }
}
