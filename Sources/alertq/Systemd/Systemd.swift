import AlertPresenters
import AlertQueue
import Glibc
import Linux

/// The parts of systemd that the verbs that install units need.
enum Systemd {
    /// The folder of the user's own units; see systemd.unit(5).
    ///
    /// - Throws: ``CommandError`` where the user has no folder for it.
    static func userFolder(in context: Context) throws -> String {
        // The XDG Base Directory Specification says that a path that is not absolute is ignored.
        if let folder = try context.variables("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return folder + "/systemd/user"
        }
        guard let home = UserAccounts.home(try context.variables("HOME")) else {
            throw CommandError(
                .notFound,
                "neither $XDG_CONFIG_HOME nor $HOME names a folder, and this account has no home")
        }
        return home + "/.config/systemd/user"
    }

    /// Writes the file whole or not at all; see rename(2).
    static func write(_ text: String, to path: String) throws {
        do throws(LinuxError) {
            try FilePath.create(directory: FilePath.directory(of: path), mode: 0o755)
        } catch {
            throw CommandError(.inputOutput, "\(error)")
        }
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure("write", draft) }
        defer { close(descriptor) }
        try Output.write(Array(text.utf8), to: descriptor)
        guard rename(draft, path) == 0 else { throw failure("write", path) }
    }

    static func failure(_ action: String, _ path: String) -> CommandError {
        CommandError(
            .inputOutput, "can't \(action) \(path): \(String(cString: strerror(errno)))")
    }

    /// Runs systemctl(1); returns whether it succeeded.
    static func run(_ words: [String]) async -> Bool {
        await HelperProgram.exitCode(of: ["systemctl"] + words, within: .seconds(20)) == 0
    }

    /// A word as ExecStart= reads it: in quotes, without specifiers or variables; see
    /// systemd.service(5), "Command lines".
    static func quoted(_ word: String) -> String {
        let text = word.replacingScalars([
            "\\": "\\\\", "\"": "\\\"", "%": "%%", "$": "$$", "\n": "\\n",
        ])
        return "\"\(text)\""
    }
}
