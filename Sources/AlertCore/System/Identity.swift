import Glibc
import Linux
import TextFormats

/// The identity of this process, as the system knows it.
package struct Identity: Sendable, Hashable, Codable {
    package var account: Account
    /// The account that logged in, even if the uid has changed since; see pam_loginuid(8).
    package var loginUID: UInt32?
    /// The kernel's audit session, one per login; see `/proc/[pid]/sessionid` in proc(5).
    package var session: UInt32?
    package var tty: String?
    package var ssh: String?
    package var process: ProcessIdentity

    package init(
        _ account: Account, loginUID: UInt32? = nil, session: UInt32? = nil, tty: String? = nil,
        ssh: String? = nil, process: ProcessIdentity
    ) {
        self.account = account
        self.loginUID = loginUID
        self.session = session
        self.tty = tty
        self.ssh = ssh
        self.process = process
    }

    /// The identity of this process, with its current uid.
    ///
    /// In a user namespace the ids are those outside of it, as the machine knows them; the name
    /// says so.
    package static var current: Identity {
        let namespace = UserNamespace.current
        let login = kernelID("/proc/self/loginuid")
        return Identity(
            account(in: namespace),
            loginUID: namespace.map { space in login.flatMap(space.outer) } ?? login,
            session: kernelID("/proc/self/sessionid"), tty: terminal(),
            // An address has at most 45 bytes; the variable may hold anything.
            ssh: environment("SSH_CONNECTION")?.split(separator: " ").first.map {
                String($0).cut(toBytes: Alert.Limit.name)
            },
            process: .current)
    }

    fileprivate static func account(in namespace: UserNamespace?) -> Account {
        guard let namespace else { return Account(uid: geteuid(), name: accountName(geteuid())) }
        let uid = namespace.outer(geteuid()) ?? UserNamespace.unidentified
        return Account(uid: uid, name: userName(uid, in: namespace))
    }

    /// Whether this process is root over the files that it sees: the machine's root, or that of a
    /// container with its own root directory.
    ///
    /// It determines where files belong, and says nothing about who acts: that is ``account``.
    package static var isRootOfFiles: Bool {
        geteuid() == 0 && UserNamespace.current?.hasOwnRoot ?? true
    }

    /// The value of an environment variable, or `nil` if it is unset or empty.
    package static func environment(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The home directory of this process's account: `$HOME`, or where that is not an absolute path
    /// or is `/`, the directory that the account database has, if it exists.
    ///
    /// `nil` if there is neither; many accounts of services have `/` or a directory that is missing.
    package static var home: String? { home(environment("HOME")) }

    /// The home directory of this process's account where `$HOME` has a value.
    package static func home(_ variable: String?) -> String? {
        if let variable, isHome(variable) { return variable }
        guard let home = account(accountID)?.home, isHome(home) else { return nil }
        return LinuxFile.isDirectory(home) ? home : nil
    }

    private static func isHome(_ path: String) -> Bool {
        path.hasPrefix("/") && !path.allSatisfy { $0 == "/" }
    }

    /// The id of this process's account in the account database that it sees: a user namespace may
    /// have changed the id, but not the database.
    private static var accountID: uid_t {
        guard let namespace = UserNamespace.current, !namespace.hasOwnAccounts else {
            return geteuid()
        }
        return namespace.outer(geteuid()) ?? UserNamespace.unidentified
    }

    private static func kernelID(_ path: String) -> UInt32? {
        // The kernel writes −1, as an unsigned number, for "none".
        LinuxFile.text(path).flatMap(UInt32.init).flatMap { $0 == .max ? nil : $0 }
    }

    /// The name of the account with this id on the machine, if it can be found.
    fileprivate static func userName(_ uid: uid_t) -> String? {
        guard let namespace = UserNamespace.current, namespace.hasOwnAccounts else {
            return accountName(uid)
        }
        return namespace.inner(uid).flatMap(accountName)
    }

    /// The id on the machine of the account with this name, or with this number; `nil` if there is
    /// no such account.
    ///
    /// - Throws: If the account database can't be read.
    fileprivate static func userID(_ name: String) throws(LinuxError) -> uid_t? {
        let uid: uid_t?
        do throws(LinuxError) {
            uid = try accountEntry("look up the account \(name)") { entry, buffer, size, found in
                getpwnam_r(name, entry, buffer, size, found)
            } read: {
                $0.pw_uid
            }
        } catch {
            // A number needs no name.
            guard let number = uid_t(name) else { throw error }
            return number
        }
        guard let uid else { return uid_t(name) }
        guard let namespace = UserNamespace.current, namespace.hasOwnAccounts else { return uid }
        return namespace.outer(uid)
    }

    /// The machine's name for a process in a namespace, and the process's name inside: `ana, in a
    /// user namespace as uid 0`.
    private static func userName(_ uid: uid_t, in namespace: UserNamespace) -> String {
        let hasOwnAccounts = namespace.hasOwnAccounts
        let outer =
            if uid == UserNamespace.unidentified { "unknown" } else {
                (hasOwnAccounts ? nil : accountName(uid)) ?? "uid \(uid)"
            }
        let inner = (hasOwnAccounts ? accountName(geteuid()) : nil) ?? "uid \(geteuid())"
        return "\(outer), in a user namespace as \(inner)"
    }

    private static func accountName(_ uid: uid_t) -> String? {
        account(uid)?.name.cut(toBytes: Alert.Limit.name)
    }

    /// The name and the home directory of this id in the local account database.
    private static func account(_ uid: uid_t) -> (name: String, home: String)? {
        let entry = try? accountEntry("look up uid \(uid)") { entry, buffer, size, found in
            getpwuid_r(uid, entry, buffer, size, found)
        } read: {
            (name: String(cString: $0.pw_name), home: String(cString: $0.pw_dir))
        }
        return entry ?? nil
    }

    /// Reads an entry of the account database; `nil` if there is none. See getpwnam_r(3).
    private static func accountEntry<Result>(
        _ operation: String,
        find: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32, read: (passwd) -> Result
    ) throws(LinuxError) -> Result? {
        // The entries of a directory service may be long.
        for size in [16 << 10, 256 << 10, 4 << 20] {
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            switch find(&entry, buffer, size, &found) {
            case 0: return found.map { read($0.pointee) }
            // The C library has several words for "not found".
            case ENOENT, ESRCH, EBADF, EPERM: return nil
            case ERANGE: continue
            case let code: throw LinuxError(operation, code: code)
            }
        }
        throw LinuxError(operation, code: ERANGE)
    }

    /// The device of the first standard descriptor that is a terminal.
    private static func terminal() -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        for descriptor in [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO]
        where ttyname_r(descriptor, &buffer, buffer.count) == 0 {
            let name = buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
            // `xargs -o` opens this name, which stands for the terminal of whoever uses it: tty(4).
            return name == "/dev/tty" ? LinuxProcess.controllingTerminal ?? name : name
        }
        return nil
    }

    fileprivate static func hostName() -> String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

// MARK: - Accounts and processes of this machine

extension Account {
    /// The account of this process, as ``Identity/current`` has it.
    package static var current: Account { Identity.account(in: UserNamespace.current) }

    /// Finds the account of this machine with a name or a number; `nil` if there is none.
    ///
    /// - Throws: If the account database can't be read.
    package static func local(named name: String) throws(LinuxError) -> Account? {
        try Identity.userID(name).map { Account(uid: $0, name: name) }
    }

    /// The account with the name that it has now, if none is recorded and it can be found; a
    /// directory service may take a while.
    ///
    /// Of the accounts of other machines only root has a name that is known here.
    package var named: Account {
        guard name == nil else { return self }
        let name = host.isEmpty ? Identity.userName(uid) : isRoot ? "root" : nil
        return Account(uid: uid, name: name, host: host)
    }

    /// Whether it can be told from others: accounts that no namespace identifies share one number.
    package var isIdentified: Bool { uid != UserNamespace.unidentified }
}

extension ProcessIdentity {
    /// This process.
    public static var current: ProcessIdentity {
        ProcessIdentity(host: Identity.hostName(), boot: SystemClock.boot, pid: getpid())
    }

    /// Whether it is this process.
    package var isCurrent: Bool { isSame(as: .current) }

    /// The process with this number, if it is one of this machine since its start; it may have
    /// ended.
    package var local: LinuxProcess? {
        var here = ProcessIdentity.current
        here.pid = pid
        return pid > 0 && isSame(as: here) ? LinuxProcess(pid: pid) : nil
    }

    /// Whether it is known to run: nothing is known of other machines' processes. See kill(2).
    package var isRunning: Bool { local != nil && (kill(pid, 0) == 0 || errno == EPERM) }
}
