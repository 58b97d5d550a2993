import AlertCore
import TestSupport
import Testing

@Suite("Accounts and processes", .inParallel)
struct AccountTests {
    private func caller(_ uid: UInt32, _ host: String = "", pid: Int32 = 1) -> Caller {
        Caller(
            Account(uid: uid, host: host), via: "test",
            process: ProcessIdentity(host: "nas", pid: pid))
    }

    @Test("An account is the same under another name, and another one on another host")
    func same() {
        let ana = Account(uid: 7, name: "ana")
        #expect(ana == Account(uid: 7, name: "ben") && Set([ana, Account(uid: 7)]).count == 1)
        #expect(ana != Account(uid: 7, name: "ana", host: "nas") && ana != Account(uid: 8))
    }

    @Test("An account of another machine is named with it, and one of this machine without")
    func label() {
        let table: [(Account, label: String, word: String)] = [
            (Account(uid: 7, name: "ana"), "ana", "ana"), (Account(uid: 7), "uid 7", "7"),
            (Account(uid: 7, name: "ana", host: "db7"), "ana@db7", "ana@db7"),
            (Account(uid: 7, host: "db7"), "uid 7 of db7", "7@db7"),
            (Account(uid: 7, host: "db7").named, "uid 7 of db7", "7@db7"),
            (Account(uid: 0, host: "db7").named, "root@db7", "root@db7"),
            (
                Account(uid: 7, name: "ana, in a user namespace as uid 0", host: "db7"),
                "ana@db7, in a user namespace as uid 0", "ana@db7, in a user namespace as uid 0"
            ),
        ]
        for (account, label, word) in table {
            #expect(account.label == label && account.word == word)
        }
    }

    @Test("An error names the machine whose root has a right, where that is another one")
    func owner() {
        let text = { (account: Account) in "\(AlertError.notYours(1, owner: account))" }
        #expect(
            text(Account(uid: 7, name: "ana")).hasPrefix(
                "alert 1 was asked by ana: only that account and root may collect "))
        #expect(
            text(Account(uid: 7, host: "db7")).hasPrefix(
                "alert 1 was asked by uid 7 of db7: only that account and root of db7 may "))
    }

    @Test("Root has rights over the accounts of its own host only")
    func root() {
        let (here, there) = (Account(uid: 7, host: "nas"), Account(uid: 7, host: "desk"))
        for (caller, isAllowed) in [
            (caller(7, "nas"), true), (caller(0, "nas"), true), (caller(8, "nas"), false),
            (caller(0, "desk"), false), (caller(7, "desk"), false), (caller(0), false),
        ] {
            #expect(caller.hasRight(over: here) == isAllowed, "\(caller)")
            #expect(caller.mayCollect(from: here) == isAllowed, "\(caller)")
        }
        #expect(caller(0, "desk").hasRight(over: there))
    }

    @Test("Accounts that can't be told apart have rights over what their own process asked alone")
    func unidentified() {
        let account = Account(uid: .max)
        let source = AlertRecord.Source(
            name: "x", account, process: ProcessIdentity(host: "nas", boot: "b", pid: 1))
        #expect(caller(account.uid).isAsker(source) && !caller(account.uid, pid: 2).isAsker(source))
        #expect(!caller(account.uid).hasRight(over: account))
        #expect(caller(account.uid).mayCollect(from: account))
    }

    @Test("A process of another boot is another one, unless its boot isn't known")
    func boot() {
        let process = ProcessIdentity(host: "nas", boot: "b", pid: 1)
        #expect(process.isSame(as: ProcessIdentity(host: "nas", pid: 1)))
        #expect(!process.isSame(as: ProcessIdentity(host: "nas", boot: "c", pid: 1)))
        #expect(!process.isSame(as: ProcessIdentity(host: "desk", boot: "b", pid: 1)))
        let own = ProcessIdentity.current
        #expect(own.isCurrent && own.isRunning && own.local?.pid == own.pid)
        for other in [
            ProcessIdentity(host: own.host + "x", pid: own.pid),
            ProcessIdentity(host: own.host, boot: "c", pid: own.pid),
            ProcessIdentity(host: own.host, pid: 0), ProcessIdentity(host: own.host, pid: -1),
        ] {
            #expect(!other.isCurrent && !other.isRunning && other.local == nil, "\(other)")
        }
    }
}
