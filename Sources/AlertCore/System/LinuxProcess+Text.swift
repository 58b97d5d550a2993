import Linux

extension LinuxProcess: CustomStringConvertible {
    /// `process 4711 (alertq), which is stopped`.
    package var description: String { "process " + name + (isStopped ? ", which is stopped" : "") }

    /// What it is at the beginning of a sentence: `process 4711 (alertq), which is stopped,`.
    package var subject: String { description + (isStopped ? "," : "") }

    /// Its number, and its program's name if that can be seen: `4711 (alertq)`.
    package var name: String { "\(pid)" + (program.map { " (\(SafeText.line($0)))" } ?? "") }
}
