import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Several users on one queue. Only root can start processes of other users.
@Suite(
    "System queue", .inParallel, .enabled(if: geteuid() == 0, "only root can become other users"))
struct SystemQueueTests {
    static let group: gid_t = 60_010
    static let member = LinuxAccount(uid: 60_001, gid: 60_010)
    static let stranger = LinuxAccount(uid: 60_002, gid: 60_002)

    @Test("Root's ask is answered by a member of the group at its own terminal")
    func member() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        let asker = try queue.start(["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No"])
        #expect(await eventually { asker.errors.text.contains("answer with") })
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal, as: Self.member)
        #expect(await terminal.shows("Prune?"))
        let isAnswered = try await terminal.press("y") { asker.poll() != nil }
        #expect(isAnswered)
        #expect(await asker.output.complete() == "yes\n")
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        let alert = try #require(try await queue.objects("show", "1").first)
        let responder = try #require(alert["responder"] as? [String: any Sendable])
        #expect(responder["uid"] as? Int == Int(Self.member.uid))
        #expect(try await queue.isSound())
    }

    @Test("Every file of a shared queue belongs to the group and is 0660, with any umask")
    func modes() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        let script = "umask 077; exec \(CommandLineQueue.program) notify Done"
        let child = try Child(
            "sh", ["-c", script], environment: ["ALERTQ_DATABASE": queue.path])
        #expect(await child.exit() == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: queue.directory)
        #expect(files.contains("queue.db") && files.contains("queue.db-wal"))
        for file in files {
            var status = stat()
            #expect(stat(queue.directory + "/" + file, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o660, "\(file)")
            #expect(status.st_gid == Self.group, "\(file)")
        }
    }

    @Test("A user outside the group gets exit 77, and changes nothing")
    func stranger() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        #expect(try await queue.run("notify", "Done").code == 0)
        let child = try queue.start(["answer", "1", "OK"], as: Self.stranger)
        #expect(await child.exit() == 77)
        #expect(await child.errors.complete().contains("ermi"))
    }

    @Test("A program gets the responses of its own account only, and root's gets those of all")
    func responses() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        let other = LinuxAccount(uid: 60_003, gid: Self.group)
        for account in [nil, other, Self.member] {
            let asked = try queue.start(["ask", "Prune?", "--detach"], as: account)
            #expect(await asked.exit() == 0)
        }
        for id in ["1", "2", "3"] { #expect(try await queue.run("answer", id, "OK").code == 0) }
        let member = try queue.start(["watch", "--json", "--exec", "true"], as: Self.member)
        #expect(await eventually { member.output.text.contains("\"id\":3,") })
        // It would have come to the older ones first.
        #expect(member.output.text.split(separator: "\n").count == 1)
        let collected = try queue.start(["collect", "--id", "1"], as: Self.member)
        #expect(await collected.exit() == 0)
        #expect(await collected.errors.complete().contains("left to the account that asked"))
        let root = try queue.start(["watch", "--json", "--exec", "true"])
        #expect(await eventually { root.output.text.split(separator: "\n").count == 2 })
        #expect(!root.output.text.contains("\"id\":3,"))
        for watch in [member, root] { watch.kill(SIGTERM) }
        #expect(await member.exit() == 128 + SIGTERM)
        #expect(await root.exit() == 128 + SIGTERM)
        #expect(try await queue.objects("history", "--uncollected").isEmpty)
        #expect(try await queue.isSound())
    }

    @Test("doctor --setup-system creates the directory, and may be run again")
    func setUp() async throws {
        let work = try CommandLineQueue()
        // In a mount namespace of its own, so that the machine stays as it is.
        let script = """
            set -e
            cp -a /etc \(work.directory)/etc
            mount --bind \(work.directory)/etc /etc
            mount -t tmpfs none /var/lib
            \(CommandLineQueue.program) doctor --setup-system
            chmod 700 /var/lib/alertq
            \(CommandLineQueue.program) doctor --setup-system
            stat -c '%a %G' /var/lib/alertq
            stat -c '%U %a %G' /var/lib/alertq/queue.db
            chown 60001 /var/lib/alertq/queue.db*
            chmod 644 /var/lib/alertq/queue.db
            \(CommandLineQueue.program) doctor --setup-system
            stat -c '%U %a %G' /var/lib/alertq/queue.db
            \(CommandLineQueue.program) notify --system Done
            stat -c '%a %G' /var/lib/alertq/queue.db
            """
        let child = try Child("unshare", ["-m", "sh", "-c", script])
        let code = await child.exit()
        let errors = await child.errors.complete()
        #expect(code == 0, "\(errors)")
        let output = await child.output.complete()
        #expect(output.contains("2770 alertq\n"))
        #expect(output.matches(of: /root 660 alertq\n/).count == 2, "\(output)")
        #expect(output.hasSuffix("660 alertq\n"))
    }
}
