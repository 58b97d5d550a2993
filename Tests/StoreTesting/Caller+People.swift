import AlertCore
import Glibc

extension Caller {
    /// The process that applies deadlines.
    package static let keeper = Caller(via: "deadline")
    /// A person at a terminal, with the account that asks in these tests.
    package static let ana = Caller(
        Account(uid: geteuid(), name: "ana"), loginUID: 1001, session: 7, via: "terminal",
        tty: "/dev/pts/3", ssh: "192.0.2.7", process: ProcessIdentity(host: "desk", pid: 4711))
    /// Another person with the same account.
    package static let ben = Caller(
        Account(uid: geteuid(), name: "ben"), via: "answer",
        process: ProcessIdentity(host: "desk", pid: 4712))
    /// A person with another account, which is not root.
    package static let eve = Caller(
        Account(uid: geteuid() + 1003, name: "eve"), via: "answer",
        process: ProcessIdentity(host: "desk", pid: 4713))
}
