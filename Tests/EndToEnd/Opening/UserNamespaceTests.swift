import AlertQueue
import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

@Suite("User namespace", .inParallel)
struct UserNamespaceTests {
    /// Whether the kernel lets an account make a namespace, which only root can try as another one.
    static let isAllowed: Bool = {
        guard geteuid() == 0 else { return false }
        return (try? Child("unshare", ["-r", "true"], as: ana))?.wait() == 0
    }()
    private static let why: Comment = """
        only root can become other users, and the kernel must let them make user namespaces
        """

    private static let ana = LinuxAccount(uid: 60_001, gid: 60_010)

    @Test(
        "An id is translated to that of the machine, and back",
        arguments: [
            // unshare -r; a container with subordinate ids; a sandbox that leaves the id as it is.
            ("0 1000 1", nil, 0, 1000), ("0 1000 1\n1 100000 65536", nil, 0, 1000),
            ("0 1000 1\n1 100000 65536", nil, 33, 100_032), ("1000 1000 1", nil, 1000, 1000),
            // The machine's root alone in a namespace, and together with others.
            ("0 0 1", 0, 0, 0), ("7 0 1\n8 5 2", 7, 9, 6),
        ] as [(String, UInt32?, UInt32, UInt32)])
    func translated(map: String, root: UInt32?, inner: UInt32, outer: UInt32) throws {
        let namespace = try #require(UserNamespace(map: map, machineRoot: root ?? 65534))
        #expect(namespace.outer(inner) == outer)
        #expect(namespace.inner(outer) == inner)
    }

    @Test(
        "An id without an outer id, or in nested namespaces, is not translated",
        arguments: [
            ("", nil, 65534), ("0 1000 1", nil, 1), ("0 4294967290 9", nil, 7),
            // The map names root above, and the machine's root is another user.
            ("0 0 1", nil, 0), ("0 0 1\n1 1 1", 1, 0),
            // The machine's root is in this namespace, and has another id above.
            ("0 1000 1", 0, 0), ("0 4294967295 4294967295", nil, 0),
        ] as [(String, UInt32?, UInt32)])
    func unknown(map: String, root: UInt32?, inner: UInt32) throws {
        let namespace = try #require(UserNamespace(map: map, machineRoot: root ?? 65534))
        #expect(namespace.outer(inner) == nil)
    }

    @Test("A map that leaves every id as it is does not count as a namespace")
    func identity() {
        #expect(UserNamespace(map: "         0          0 4294967295\n", machineRoot: 0) == nil)
    }

    /// The recorded account of an answer that is given under a program such as unshare(1).
    private func responder(
        under wrapper: [String], as account: LinuxAccount?
    ) async throws -> [String: any Sendable] {
        // Where anybody may write, the account's queue would not be its own.
        let queue = try CommandLineQueue(sharedBy: account?.gid ?? 0)
        let asked = try queue.start(
            ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No", "--detach"], as: account)
        #expect(await asked.exit() == 0)
        let answer = try await queue.start(["answer", "1", "yes"], under: wrapper, as: account)
            .finish()
        #expect(answer.code == 0, "\(answer)")
        let alert = try #require(try await queue.objects("show", "1").first)
        #expect(try await queue.isSound())
        return try #require(alert["responder"] as? [String: any Sendable])
    }

    @Test(
        "Root of a namespace is recorded as the account that made it",
        .enabled(if: isAllowed, why))
    func root() async throws {
        let responder = try await responder(under: ["unshare", "-r"], as: Self.ana)
        #expect(responder["uid"] as? Int == 60_001)
        #expect(responder["user"] as? String == "uid 60001, in a user namespace as uid 0")
    }

    @Test("The account keeps its name", .enabled(if: isAllowed, why))
    func name() async throws {
        let responder = try await responder(under: ["unshare", "-r"], as: nil)
        #expect(responder["uid"] as? Int == 0)
        #expect(responder["user"] as? String == "root, in a user namespace as uid 0")
    }

    @Test(
        "Root of a namespace in a namespace is recorded as an unknown account",
        .enabled(if: isAllowed, why))
    func nested() async throws {
        let responder = try await responder(
            under: ["unshare", "-r", "unshare", "-r"], as: Self.ana)
        #expect(responder["uid"] as? UInt32 == UserNamespace.unidentified)
        #expect(responder["user"] as? String == "unknown, in a user namespace as uid 0")
    }

    @Test(
        "A namespace without ids is recorded as an unknown account",
        .enabled(if: isAllowed, why))
    func unmapped() async throws {
        let responder = try await responder(under: ["unshare", "-U"], as: Self.ana)
        #expect(responder["uid"] as? UInt32 == UserNamespace.unidentified)
        #expect(responder["user"] as? String == "unknown, in a user namespace as uid 65534")
    }

    @Test(
        "In a namespace whose map leaves every id as it is, root is root",
        .enabled(if: isAllowed, why))
    func explicitIdentity() async throws {
        let wrapper = [
            "sh", "-c",
            """
            directory=$(mktemp -d) && mkfifo "$directory/go"
            unshare -U sh -c 'read -r go <"$0"; exec "$@"' "$directory/go" "$@" &
            # Until the shell is in its namespace, its map is that of the machine.
            while [ -n "$(cat /proc/$!/uid_map)" ]; do sleep 0.01; done
            echo 0 0 4294967295 >/proc/$!/uid_map
            echo >"$directory/go"
            wait $!; code=$?
            rm -r "$directory"
            exit $code
            """, "sh",
        ]
        let responder = try await responder(under: wrapper, as: nil)
        #expect(responder["uid"] as? Int == 0)
        #expect(responder["user"] as? String == "root")
    }

    @Test(
        "Root of a namespace has no rights over the alerts of other accounts",
        .enabled(if: isAllowed, why))
    func authority() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.ana.gid)
        let words = ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No", "--detach"]
        let asked = try queue.start(words, as: LinuxAccount(uid: 60_002, gid: Self.ana.gid))
        #expect(await asked.exit() == 0)
        for wrapper in [["unshare", "-r"], ["unshare", "-r", "unshare", "-r"]] {
            let withdrawal = try await queue.start(
                ["withdraw", "1"], under: wrapper, as: Self.ana
            ).finish()
            #expect(withdrawal.code == 77, "\(withdrawal)")
            #expect(withdrawal.errors.contains("was asked by uid 60002"))
        }
        #expect(try await queue.run("withdraw", "1").code == 0)
    }

    @Test(
        "In a container with accounts of its own, the name is taken from them",
        .enabled(if: isAllowed, why))
    func container() async throws {
        // A directory over /etc that belongs to the namespace's root, as an image's does.
        let script = """
            mount -t tmpfs none /etc && echo carl:x:0:0:::/bin/sh >/etc/passwd && exec "$@"
            """
        let responder = try await responder(
            under: ["unshare", "-r", "-m", "sh", "-c", script, "sh"], as: Self.ana)
        #expect(responder["uid"] as? Int == 60_001)
        #expect(responder["user"] as? String == "uid 60001, in a user namespace as carl")
    }

    @Test(
        "An account's queue stays its own in a namespace of which it is root",
        .enabled(if: isAllowed, why))
    func ownQueue() async throws {
        let home = try CommandLineQueue(mode: 0o777)
        let child = try Child(
            "unshare", ["-r", CommandLineQueue.program, "notify", "Done"],
            environment: ["HOME": home.directory, "XDG_STATE_HOME": ""], as: Self.ana)
        #expect(await child.exit() == 0, "\(child.errors.text)")
        #expect(
            FileManager.default.fileExists(
                atPath: home.directory + "/.local/state/alertq/queue.db"))
    }
}
