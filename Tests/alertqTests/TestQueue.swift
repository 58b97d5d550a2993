import AlertQueue
import Foundation
import SQLite
import TestSupport
import Testing

/// A queue in a directory of its own, and its manager.
final class TestQueue: Sendable {
    private let folder: TemporaryDirectory
    let manager: AlertManager
    var directory: String { folder.path }
    var path: String { folder.database }

    init() async throws {
        folder = try TemporaryDirectory()
        manager = try await AlertManager(path: folder.database)
    }
}
