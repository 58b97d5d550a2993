import Foundation
import TestSupport

extension CommandLineQueue {
    /// Where a user's units are for ``run(_:systemctl:)``.
    package var unitDirectory: String { directory + "/config/systemd/user" }

    /// Runs a verb to its end where `systemctl` is a script that writes its arguments into the file
    /// `calls`.
    package func run(_ words: [String], systemctl: String) async throws -> Finished {
        let bin = directory + "/bin"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        _ = try script("bin/systemctl", "echo \"$*\" >>\(directory)/calls; \(systemctl)")
        return try await start(
            words,
            environment: [
                "XDG_CONFIG_HOME": directory + "/config", "PATH": bin + ":/usr/bin:/bin",
            ]
        ).finish()
    }
}
