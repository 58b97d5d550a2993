import Glibc
import Synchronization

/// The account database, and this process's place in it, as the machine knows it; see getpwnam_r(3).
package enum UserAccounts {
    /// The id of this process's account on the machine, and its name; in a user namespace the name
    /// names both accounts: `ana, in a user namespace as uid 0`.
    package static func current(in namespace: UserNamespace?) -> (uid: UInt32, name: String?) {
        guard let namespace else { return (geteuid(), found(geteuid())?.name) }
        let uid = namespace.outer(geteuid()) ?? UserNamespace.unidentified
        return (uid, name(of: uid, in: namespace))
    }

    /// The name of the account with this id on the machine, if it can be found; a directory service
    /// may take a while.
    package static func name(of uid: UInt32) -> String? {
        guard looksNamesUp.load(ordering: .relaxed) else { return nil }
        guard let namespace = UserNamespace.current, namespace.hasOwnAccounts else {
            return found(uid)?.name
        }
        return namespace.inner(uid).flatMap { found($0)?.name }
    }

    /// From now on ids are those of another machine, whose names are not known here.
    package static func stopLookingUpNames() { looksNamesUp.store(false, ordering: .relaxed) }

    /// The id on the machine of the account with this name, or with this number; `nil` if there is
    /// no such account.
    ///
    /// - Throws: If the account database can't be read.
    package static func id(of name: String) throws(LinuxError) -> UInt32? {
        let uid: uid_t?
        do throws(LinuxError) {
            uid = try entry("look up the account \(name)") { entry, buffer, size, found in
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

    /// The id of a group as this process sees it; `nil` if there is none of that name. See
    /// getgrnam_r(3).
    package static func groupID(of name: String) -> gid_t? {
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        // It also has to hold the list of the group's members.
        var buffer = [CChar](repeating: 0, count: 1 << 20)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
            return nil
        }
        return entry.gr_gid
    }

    /// Whether this process is root over the files that it sees: the machine's root, or that of a
    /// container with its own root directory.
    ///
    /// It determines where files belong, and says nothing about who acts: that is ``current(in:)``.
    package static var isRootOfFiles: Bool {
        geteuid() == 0 && UserNamespace.current?.hasOwnRoot ?? true
    }

    /// The home directory of this process's account: `$HOME`, or where that is not an absolute path
    /// or is `/`, the directory that the account database has, if it exists.
    ///
    /// `nil` if there is neither; many accounts of services have `/` or a directory that is missing.
    package static var home: String? { home(LinuxProcess.environment("HOME")) }

    /// The home directory of this process's account where `$HOME` has a value.
    package static func home(_ variable: String?) -> String? {
        if let variable, isHome(variable) { return variable }
        guard let home = found(seen)?.home, isHome(home) else { return nil }
        return LinuxFile.isDirectory(home) ? home : nil
    }

    private static func isHome(_ path: String) -> Bool {
        path.hasPrefix("/") && !path.allSatisfy { $0 == "/" }
    }

    /// The id of this process's account in the account database that it sees: a user namespace may
    /// have changed the id, but not the database.
    private static var seen: uid_t {
        guard let namespace = UserNamespace.current, !namespace.hasOwnAccounts else {
            return geteuid()
        }
        return namespace.outer(geteuid()) ?? UserNamespace.unidentified
    }

    /// The machine's name for a process in a namespace, and the process's name inside.
    private static func name(of uid: uid_t, in namespace: UserNamespace) -> String {
        let hasOwnAccounts = namespace.hasOwnAccounts
        let outer =
            if uid == UserNamespace.unidentified { "unknown" } else {
                (hasOwnAccounts ? nil : found(uid)?.name) ?? "uid \(uid)"
            }
        let inner = (hasOwnAccounts ? found(geteuid())?.name : nil) ?? "uid \(geteuid())"
        return "\(outer), in a user namespace as \(inner)"
    }

    /// The name and the home directory of this id in the local account database.
    private static func found(_ uid: uid_t) -> (name: String, home: String)? {
        let entry = try? entry("look up uid \(uid)") { entry, buffer, size, found in
            getpwuid_r(uid, entry, buffer, size, found)
        } read: {
            (name: String(cString: $0.pw_name), home: String(cString: $0.pw_dir))
        }
        return entry ?? nil
    }

    /// Reads an entry of the account database; `nil` if there is none.
    private static func entry<Result>(
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
}

private let looksNamesUp = Atomic<Bool>(true)
