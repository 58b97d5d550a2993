import Foundation
import StoreTesting

/// A queue of a test's own.
final class PortQueue: Sendable {
    /// Where programs have their queues.
    enum Place: CaseIterable {
        case file
        #if PostgreSQL
            case server
        #endif

        static var tried: [Place] {
            #if PostgreSQL
                ServerQueue.isTried ? allCases : [.file]
            #else
                allCases
            #endif
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
        #if PostgreSQL
            case .server: path = try await ServerQueue.make()
        #endif
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }
}
