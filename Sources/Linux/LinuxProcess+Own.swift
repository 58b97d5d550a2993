import Glibc

// What the system knows of this process.
extension LinuxProcess {
    /// The value of an environment variable, or `nil` if it is unset or empty.
    package static func environment(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The machine's name; see uname(2).
    package static var hostName: String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Lets this process have as many open files as it may; see getrlimit(2), `RLIMIT_NOFILE`.
    package static func raiseDescriptorLimit() {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(kind, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(kind, &limit)
    }

    /// The account that logged in, by its id on the machine, even if the uid has changed since; see
    /// pam_loginuid(8).
    package static func loginUID(in namespace: UserNamespace?) -> UInt32? {
        let login = kernelID("/proc/self/loginuid")
        return namespace.map { space in login.flatMap(space.outer) } ?? login
    }

    /// The kernel's audit session, one per login; see `/proc/[pid]/sessionid` in proc(5).
    package static var session: UInt32? { kernelID("/proc/self/sessionid") }

    private static func kernelID(_ path: String) -> UInt32? {
        // The kernel writes −1, as an unsigned number, for "none".
        LinuxFile.text(path).flatMap(UInt32.init).flatMap { $0 == .max ? nil : $0 }
    }

    /// The device of the first standard descriptor that is a terminal.
    package static var terminal: String? {
        var buffer = [CChar](repeating: 0, count: 256)
        for descriptor in [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO]
        where ttyname_r(descriptor, &buffer, buffer.count) == 0 {
            let name = buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
            // `xargs -o` opens this name, which stands for the terminal of whoever uses it: tty(4).
            return name == "/dev/tty" ? controllingTerminal ?? name : name
        }
        return nil
    }

    /// The device of this process's controlling terminal, such as `/dev/pts/3`; `nil` if it has
    /// none, or none that can be found in this mount namespace. See proc(5), `tty_nr`.
    package static var controllingTerminal: String? {
        // The program's name, in brackets, may contain anything.
        let fields = LinuxFile.text("/proc/self/stat")?.split(separator: ")").last?
            .split(separator: " ")
        guard let fields, fields.count > 4, let number = Int32(fields[4]), number != 0 else {
            return nil
        }
        // Twelve bits of the major number lie among twenty of the minor one; see makedev(3).
        let device = UInt32(bitPattern: number)
        let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00)
        // Pseudoterminals have no directory in sysfs.
        let event = LinuxFile.text("/sys/dev/char/\(major):\(minor)/uevent") ?? ""
        let name = event.split(separator: "\n").first { $0.hasPrefix("DEVNAME=") }?.dropFirst(8)
        let path = "/dev/" + (name.map(String.init) ?? "pts/\(minor)")
        var status = stat()
        let isIt = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
        return isIt && status.st_rdev == dev_t(device) ? path : nil
    }
}
