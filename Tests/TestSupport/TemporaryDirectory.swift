import Foundation
import Glibc

/// A directory in `$TMPDIR`, which is removed after the test.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// Creates an empty directory; its name begins with `name`.
    package init(_ name: String = "alertq-test-") throws {
        path = Self.path(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Creates a directory with the contents of another one.
    package init(_ name: String = "alertq-test-", copyOf other: String) throws {
        path = Self.path(name)
        try FileManager.default.copyItem(atPath: other, toPath: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    private static func path(_ name: String) -> String {
        FileManager.default.temporaryDirectory.appending(path: "\(name)\(UUID())").path
    }

    /// Writes a shell script into it, and returns the script's path.
    package func script(_ name: String, _ body: String) throws -> String {
        let file = path + "/" + name
        // By a rename: a script that is open for writing can't be started (ETXTBSY).
        try ("#!/bin/sh\n" + body + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o755)
        return file
    }

    /// The lines of one of its files; none if there is no such file.
    package func lines(_ name: String) -> [String] {
        let text = try? String(contentsOfFile: path + "/" + name, encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }
}
