import Glibc

/// A directory for temporary files, which only its owner may enter; it is removed, with the files in
/// it, with the last reference to it. See mkdtemp(3).
package final class PrivateDirectory: Sendable {
    package let path: String

    /// Makes one in the directory that `TMPDIR` names, else in `/tmp`.
    package init() throws(LinuxError) {
        let place = LinuxProcess.environment("TMPDIR") ?? "/tmp"
        var template = Array("\(place)/alertq-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .current("create a directory in \(place)") }
        path = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit { remove() }

    /// Removes it now; a process that exits drops no references.
    package func remove() {
        for name in LinuxFile.names(in: path) { unlink(path + "/" + name) }
        rmdir(path)
    }
}
