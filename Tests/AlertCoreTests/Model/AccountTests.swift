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
        let text = { (owner: Principal) in "\(AlertError.notYours(1, owner: owner))" }
        #expect(
            text(.account(Account(uid: 7, name: "ana"))).hasPrefix(
                "alert 1 was asked by ana: only that account and root may collect "))
        #expect(
            text(.account(Account(uid: 7, host: "db7"))).hasPrefix(
                "alert 1 was asked by uid 7 of db7: only that account and root of db7 may "))
        #expect(
            text(.person("boss")).hasPrefix(
                "alert 1 was asked by person:boss: only that person and root may "))
    }

    @Test(
        "What identifies a principal is read back, and nothing else is",
        arguments: [
            ("0", .account(Account(uid: 0))), ("1000", .account(Account(uid: 1000))),
            ("4294967295", .account(Account(uid: .max))),
            ("1000@db7", .account(Account(uid: 1000, host: "db7"))),
            ("7@a@b", .account(Account(uid: 7, host: "a@b"))), ("person:boss", .person("boss")),
            ("person:1000@db7", .person("1000@db7")), ("person:\u{301}", .person("\u{301}")),
            ("", nil), ("01", nil), ("+1", nil), ("-0", nil), ("1 ", nil), ("1@", nil),
            ("@db7", nil),
            ("4294967296", nil), ("person:", nil), ("Person:boss", nil), ("group:ops", nil),
        ] as [(String, Principal?)])
    func principal(text: String, principal: Principal?) {
        #expect(Principal(text: text) == principal)
        #expect(principal.map { $0.text.isIdentical(to: text) } ?? true)
    }

    @Test("A person is equal to no account, and is called what identifies them")
    func person() {
        let boss = Principal.person("boss")
        #expect(boss != .person("Boss") && boss != .account(Account(uid: 0, name: "person:boss")))
        #expect(Principal(text: "person:boss", user: "person:boss") == boss)
        #expect(Principal(text: "person:boss", user: nil) == nil)
        #expect(Principal(text: "person:boss", user: "boss") == nil)
        #expect(Principal(text: "7", user: "ana")?.account?.name == "ana")
    }

    @Test(
        "What speaks is read back, and parts that don't fit together are not",
        arguments: [
            (.process(ProcessIdentity(host: "nas", pid: 7)), nil, "nas", 7),
            (.device("a:b"), "device:a:b", nil, nil), (.token("ci"), "token:ci", nil, nil),
            (.link, "link", nil, nil), (nil, nil, nil, nil), (nil, nil, "nas", nil),
            (nil, nil, nil, 7), (nil, "link", "nas", 7), (nil, "link:x", nil, nil),
            (nil, "device:", nil, nil), (nil, "device", nil, nil), (nil, "", nil, nil),
        ] as [(Means?, String?, String?, Int32?)])
    func means(means: Means?, text: String?, host: String?, pid: Int32?) {
        #expect(Means(text: text, host: host, pid: pid) == means)
        #expect(means.map { $0.text == text } ?? true)
    }

    @Test("Root has rights over the accounts of its own host only")
    func root() {
        let (here, there) = (Account(uid: 7, host: "nas"), Account(uid: 7, host: "desk"))
        for (caller, isAllowed) in [
            (caller(7, "nas"), true), (caller(0, "nas"), true), (caller(8, "nas"), false),
            (caller(0, "desk"), false), (caller(7, "desk"), false), (caller(0), false),
        ] {
            #expect(caller.hasRight(over: .account(here)) == isAllowed, "\(caller)")
            #expect(caller.mayCollect(from: .account(here)) == isAllowed, "\(caller)")
        }
        #expect(caller(0, "desk").hasRight(over: .account(there)))
    }

    @Test("Accounts that can't be told apart have rights over what their own process asked alone")
    func unidentified() {
        let account = Account(uid: .max)
        let source = AlertRecord.Source(
            name: "x", .account(account), .process(ProcessIdentity(host: "nas", boot: "b", pid: 1)))
        #expect(caller(account.uid).isAsker(source) && !caller(account.uid, pid: 2).isAsker(source))
        #expect(!caller(account.uid).hasRight(over: .account(account)))
        #expect(caller(account.uid).mayCollect(from: .account(account)))
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
