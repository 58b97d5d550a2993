import Foundation

/// The programs of this package, as they were built with the tests.
package enum BuiltProgram {
    /// The path of a program: beside the tests' own, or of a debug build.
    package static func path(_ name: String) -> String {
        let runner = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let beside = runner.deletingLastPathComponent().appending(path: name).path
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let built = root.appending(path: ".build/debug/\(name)").path
        return FileManager.default.isExecutableFile(atPath: beside) ? beside : built
    }
}
