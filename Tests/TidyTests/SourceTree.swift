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

    /// The text of a file.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The names of the folders directly in a folder.
    static func folders(in path: String) throws -> Set<String> {
        let folder = root.appending(path: path)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return Set(
            names.filter { name in
                var isDirectory: ObjCBool = false
                let path = folder.appending(path: name).path
                return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
                    && isDirectory.boolValue
            })
    }
}
