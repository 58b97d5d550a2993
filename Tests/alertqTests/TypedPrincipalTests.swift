import AlertQueue
import TestSupport
import Testing

@testable import alertq

@Suite("Accounts and persons as they are typed", .inParallel)
struct TypedPrincipalTests {
    @Test(
        "A name is told from its machine, and what a user namespace adds to it stays in it",
        arguments: [
            ("ana", "ana", nil), ("ana@db7", "ana", "db7"), ("ana@corp@db7", "ana@corp", "db7"),
            ("@db7", "@db7", nil), ("ana@", "ana@", nil), ("ana@, x", "ana@, x", nil),
            (
                "ana@db7, in a user namespace as uid 0", "ana, in a user namespace as uid 0",
                "db7"
            ),
            (
                "ana, in a user namespace as root@corp", "ana, in a user namespace as root@corp",
                nil
            ),
        ] as [(String, String, String?)])
    func names(text: String, name: String, host: String?) throws {
        let typed = try Argument.user.read(text)
        #expect(typed.user == name && typed.host == host)
        if let host { #expect(Account(uid: 1000, name: name, host: host).word == text) }
    }

    @Test(
        "An account of this machine is found with its name and without, one of another by its number",
        arguments: [
            ("root", 0, ""), ("root@web1", 0, ""), ("1000@web1", 1000, ""), ("root@db7", 0, "db7"),
            ("1000@db7", 1000, "db7"),
        ] as [(String, UInt32, String)])
    func accounts(text: String, uid: UInt32, host: String) throws {
        let principal = try Argument.principal.read(text).principal(on: "web1")
        #expect(principal == .account(Account(uid: uid, host: host)))
    }

    @Test(
        "A person is not looked for among accounts", arguments: ["person:ana", "person:ana@corp"])
    func person(text: String) throws {
        let typed = try Argument.principal.read(text)
        #expect(typed.user == text && typed.host == nil)
        #expect(try typed.principal(on: "web1") == .person(String(text.dropFirst(7))))
    }

    @Test(
        "A name that no account of its machine is known by is refused",
        arguments: [
            ("none of us", "there is no account “none of us”"),
            ("none of us@web1", "there is no account “none of us”"),
            ("ana@db7", "as in 1000@db7"),
        ])
    func refused(text: String, reason: String) throws {
        let typed = try Argument.principal.read(text)
        let error = #expect(throws: UsageError.self) { try typed.principal(on: "web1") }
        #expect(error.map { "\($0)" }?.contains(reason) == true)
    }
}
