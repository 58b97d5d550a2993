import Foundation

/// The files of this package, as they are written.
enum SourceTree {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The files in a folder and below it, in alphabetical order.
    static func files(in folder: String, extension ending: String) throws -> [URL] {
        let folder = root.appending(path: folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return names.filter { $0.hasSuffix("." + ending) }.sorted().map {
            folder.appending(path: $0)
        }
    }
}
