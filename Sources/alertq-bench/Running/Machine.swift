import Glibc
import Linux

/// The machine that the figures were measured on.
enum Machine {
    /// One line: processor, memory, kernel and load.
    static var description: String {
        let memory = field("MemTotal", of: "/proc/meminfo").split(separator: " ").first
        let gibibytes = (memory.flatMap { Int($0) } ?? 0) >> 20
        let load = LinuxFile.text("/proc/loadavg")?.split(separator: " ").first ?? "?"
        var system = utsname()
        uname(&system)
        let release = withUnsafeBytes(of: &system.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let processor = field("model name", of: "/proc/cpuinfo")
        return "\(sysconf(Int32(_SC_NPROCESSORS_ONLN))) × \(processor), \(gibibytes) GiB, "
            + "Linux \(release), load \(load)"
    }

    /// The first value of a field in one of the kernel's tables.
    private static func field(_ name: String, of path: String) -> String {
        let lines = LinuxFile.text(path)?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix(name) }),
            let colon = line.firstIndex(of: ":")
        else { return "?" }
        return String(line[line.index(after: colon)...].drop { $0 == " " })
    }
}
