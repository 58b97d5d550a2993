import AlertCore
import Glibc
import Linux

/// Finds programs.
package enum ProgramSearch {
    /// The path of an executable, given its path or its name in `$PATH`; `nil` if there is none.
    package static func path(of program: String) -> String? {
        guard !program.isEmpty else { return nil }
        guard !program.unicodeScalars.contains("/") else {
            return isExecutable(program) ? program : nil
        }
        let folders = LinuxProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").lazy.map { "\($0)/\(program)" }
            .first(where: isExecutable)
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && access(path, X_OK) == 0
    }
}
