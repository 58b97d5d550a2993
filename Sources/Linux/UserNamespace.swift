import Glibc

/// A user namespace with its own ids, such as a container's; see user_namespaces(7).
///
/// The kernel reports by which id the parent namespace knows a process, and nothing about the
/// namespaces above that one. So only one step can be translated. More levels can only be detected
/// if an id in here would map to the machine's root, but the owner of `/proc`, which is the
/// machine's root, differs: the ids in such a namespace identify no known account.
package struct UserNamespace: Sendable, Hashable {
    /// The uid of accounts that no namespace identifies; no account has it.
    package static let unidentified = UInt32.max
    /// The kernel's id for accounts that have no id in here; see `overflowuid` in proc(5).
    private static let overflow =
        LinuxFile.text("/proc/sys/kernel/overflowuid").flatMap(UInt32.init) ?? 65534

    private struct Stretch: Sendable, Hashable {
        let inside: UInt32
        let outside: UInt32
        let count: UInt32

        func outside(_ uid: UInt32) -> UInt32? { Self.moved(uid, from: inside, to: outside, count) }
        func inside(_ uid: UInt32) -> UInt32? { Self.moved(uid, from: outside, to: inside, count) }

        private static func moved(
            _ uid: UInt32, from: UInt32, to: UInt32, _ count: UInt32
        ) -> UInt32? {
            guard uid >= from, uid - from < count else { return nil }
            let (result, isBeyond) = to.addingReportingOverflow(uid - from)
            return isBeyond || result == .max ? nil : result
        }
    }

    private let stretches: [Stretch]
    private let isNested: Bool

    /// The namespace of this process; `nil` if its ids are the machine's.
    package static var current: UserNamespace? {
        // A kernel without namespaces has no such file.
        guard access("/proc/self/uid_map", F_OK) == 0 else { return nil }
        return UserNamespace(
            map: LinuxFile.whole("/proc/self/uid_map"), machineRoot: owner("/proc"))
    }

    /// Creates a namespace from a map as in `/proc/self/uid_map`; `nil` if the map leaves every id
    /// unchanged.
    ///
    /// - Parameter machineRoot: The id of the machine's root as seen in here.
    package init?(map: String, machineRoot: UInt32?) {
        let stretches = map.split(separator: "\n").compactMap { line -> Stretch? in
            let numbers = line.split(separator: " ").compactMap { UInt32($0) }
            guard numbers.count == 3 else { return nil }
            return Stretch(inside: numbers[0], outside: numbers[1], count: numbers[2])
        }
        guard stretches != [Stretch(inside: 0, outside: 0, count: .max)] else { return nil }
        self.stretches = stretches
        let root = machineRoot == Self.overflow ? nil : machineRoot
        isNested = stretches.lazy.compactMap { $0.inside(0) }.first != root
    }

    /// The machine's id of an account in here; `nil` if it can't be known.
    package func outer(_ uid: UInt32) -> UInt32? {
        isNested ? nil : stretches.lazy.compactMap { $0.outside(uid) }.first
    }

    /// The id in here of an account with this id on the machine; `nil` if there is none.
    package func inner(_ uid: UInt32) -> UInt32? {
        isNested ? nil : stretches.lazy.compactMap { $0.inside(uid) }.first
    }

    /// Whether the accounts of `/etc/passwd` are the namespace's, as in a container, and not the
    /// machine's, which belong to the machine's root.
    package var hasOwnAccounts: Bool {
        guard let owner = Self.owner("/etc/passwd"), owner != Self.overflow else { return false }
        return isNested || outer(owner) != 0
    }

    /// Whether the root directory belongs to the namespace's root, as in a container.
    package var hasOwnRoot: Bool { Self.owner("/") == 0 }

    private static func owner(_ path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }
}
