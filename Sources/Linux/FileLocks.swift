import CLinux

/// The locks that processes hold on one file, as reported by the kernel in `/proc/locks`; see
/// proc(5).
///
/// A process in another pid namespace is not in the list.
package struct FileLocks {
    private let file: FileIdentity

    /// `nil` if there is no such file.
    package init?(path: String) {
        guard let file = FileIdentity(path: path) else { return nil }
        self.init(file)
    }

    package init(_ file: FileIdentity) {
        self.file = file
    }

    /// The process that holds a flock(2) lock.
    package func flockHolder() -> LinuxProcess? {
        held().first { $0.kind == "FLOCK" }.map { LinuxProcess(pid: $0.pid) }
    }

    /// The processes that hold a POSIX read lock that begins in a range of bytes; see fcntl(2).
    package func readers(from range: ClosedRange<Int>) -> Set<LinuxProcess> {
        holders(of: "READ", from: range)
    }

    /// The processes that hold a POSIX write lock that begins in a range of bytes.
    package func writers(from range: ClosedRange<Int>) -> Set<LinuxProcess> {
        holders(of: "WRITE", from: range)
    }

    private func holders(of access: String, from range: ClosedRange<Int>) -> Set<LinuxProcess> {
        let locks = held().filter {
            $0.kind == "POSIX" && $0.access == access && range.contains($0.first)
        }
        return Set(locks.map { LinuxProcess(pid: $0.pid) })
    }

    /// The processes that hold an exclusive open-file-description lock, among those whose files this
    /// user may see.
    ///
    /// The list names no process for these locks, because several may share the description.
    package func openFileHolders() -> [LinuxProcess] {
        let processes = LinuxFile.names(in: "/proc").compactMap { Int32($0) }
        return processes.filter(holdsOpenFileLock).map { LinuxProcess(pid: $0) }
    }

    private func holdsOpenFileLock(_ pid: Int32) -> Bool {
        // A process that ends in the meantime holds nothing.
        LinuxFile.names(in: "/proc/\(pid)/fd").contains { number in
            FileIdentity(path: "/proc/\(pid)/fd/\(number)") == file
                && LinuxFile.whole("/proc/\(pid)/fdinfo/\(number)").split(separator: "\n")
                    .contains {
                        $0.hasPrefix("lock:") && $0.contains(" OFDLCK ") && $0.contains(" WRITE ")
                    }
        }
    }

    private struct Held {
        let kind: Substring
        let access: Substring
        let pid: Int32
        let file: Substring
        let first: Int
    }

    /// The locks held on the file, without those that are waited for.
    private func held() -> [Held] {
        let ending = ":\(file.inode)"
        let locks = LinuxFile.whole("/proc/locks").split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count >= 8, words[1] != "->", words[5].hasSuffix(ending),
                let pid = Int32(words[4]), let first = Int(words[6])
            else { return Held?.none }
            return Held(
                kind: words[1], access: words[3], pid: pid, file: words[5], first: first)
        }
        let numbers = [gnu_dev_major(UInt(file.device)), gnu_dev_minor(UInt(file.device))]
        let device = numbers.map(Self.hex).joined(separator: ":")
        let exact = locks.filter { $0.file == device + ending }
        // Some file systems have numbers there that differ from those of stat(2).
        return exact.isEmpty ? locks : exact
    }

    private static func hex(_ number: UInt32) -> String {
        (number < 16 ? "0" : "") + String(number, radix: 16)
    }
}
