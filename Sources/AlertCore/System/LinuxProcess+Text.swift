import Linux
import TextFormats

extension LinuxProcess: CustomStringConvertible {
    /// The process and its state: `process 4711 (alertq), which is stopped`.
    package var description: String { "process " + name + (isStopped ? ", which is stopped" : "") }

    /// The process at the beginning of a sentence: `process 4711 (alertq), which is stopped,`.
    package var subject: String { description + (isStopped ? "," : "") }

    /// Its pid, and its program's name if that can be read: `4711 (alertq)`.
    package var name: String { "\(pid)" + (program.map { " (\(SafeText.line($0)))" } ?? "") }
}
