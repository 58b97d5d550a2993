import Glibc

/// A user that a process runs as; the machine need not have such an account.
package struct LinuxAccount: Sendable {
    package let uid: uid_t
    package let gid: gid_t

    package init(uid: uid_t, gid: gid_t) {
        (self.uid, self.gid) = (uid, gid)
    }
}
