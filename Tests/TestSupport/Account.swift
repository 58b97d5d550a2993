import Glibc

/// A user whom a process is to run as; no account of the machine needs to exist for it.
package struct Account: Sendable {
    package let uid: uid_t
    package let gid: gid_t

    package init(uid: uid_t, gid: gid_t) {
        (self.uid, self.gid) = (uid, gid)
    }
}
