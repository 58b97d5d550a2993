import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The command prints nothing that the log contradicts.
@Suite("Output checked against the log", .inParallel)
struct ToldTests {
    let queue: CommandLineQueue
    private var log: String { queue.directory + "/log" }

    init() throws { queue = try CommandLineQueue() }

    private let question = ["ask", "Delete?", "-b", "yes", "--cancel", "no", "--key", "k"]

    /// A question that was answered "no", whose response has not been collected.
    private func answered() async throws {
        _ = try await queue.start(question + ["--detach"]).finish()
        #expect(try await queue.run("answer", "1", "no").code == 0)
    }

    private static let flip = "UPDATE alerts SET button_index = 0"
    private static let flipBack = "UPDATE alerts SET button_index = 1"

    @Test("Neither ask nor collect nor show prints a flipped answer; all do once it is restored")
    func flipped() async throws {
        try await answered()
        try await queue.forge(Self.flip)
        for verb in [question, ["collect", "k"], ["show", "1"], ["answer", "1", "yes"]] {
            let finished = try await queue.start(verb).finish()
            #expect(finished.code == 65 && finished.output.isEmpty, "\(verb): \(finished)")
            #expect(finished.errors.contains("alert 1 can't be trusted"), "\(finished)")
        }
        #expect(try await queue.run("audit", "verify").code == 65)
        try await queue.forge(Self.flipBack)
        let told = try await queue.start(question).finish()
        #expect(told.code == 10 && told.output == "no\n")
        #expect(try await queue.isSound())
    }

    @Test("history marks a flipped answer in each of its forms, says why, and exits with 65")
    func listed() async throws {
        try await answered()
        _ = try await queue.run("ask", "Good?", "-b", "yes", "--cancel", "no", "--detach")
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        let sound = try await queue.run("history")
        #expect(sound.code == 0 && sound.errors.isEmpty, "\(sound)")
        try await queue.forge(Self.flip + " WHERE id = 1")
        for form in ["", "--json", "--csv"] {
            let listed = try await queue.start(["history"] + (form.isEmpty ? [] : [form])).finish()
            #expect(listed.code == 65, "\(listed)")
            #expect(listed.errors.contains("history: alert 1 can't be trusted"), "\(listed)")
            #expect(!listed.errors.contains("alert 2"), "\(listed)")
            let marked = listed.output.split(whereSeparator: \.isNewline).filter { line in
                switch form {
                case "--json": line.contains(#""contradicted":true"#)
                case "--csv": line.contains(",true,\(geteuid()),,\(geteuid()),")
                default: line.contains("\tanswered, contradicted\tyes\t")
                }
            }
            #expect(marked.count == 1 && marked.first?.contains("Delete?") == true, "\(listed)")
        }
        // Where it is not listed, nothing is wrong.
        #expect(try await queue.run("history", "--limit", "1").code == 0)
        #expect(try await queue.run("history", "--text", "Delete").code == 65)
    }

    @Test("A row that can't be read hides no other one, is named, and the exit code is 65")
    func unreadable() async throws {
        for title in ["One?", "Two?", "Three?", "Four?"] {
            _ = try await queue.run("ask", title, "-b", "yes", "--cancel", "no", "--detach")
        }
        for id in ["1", "2"] { #expect(try await queue.run("answer", id, "yes").code == 0) }
        try await queue.forge("UPDATE alerts SET buttons = 'x' WHERE id IN (2, 3)")
        for (verb, bad, good) in [("history", "2", "One?"), ("list", "3", "Four?")] {
            for options in [[], ["--json"], ["--source", "alertq"], ["--limit", "1"]] {
                let listed = try await queue.start([verb] + options).finish()
                #expect(listed.code == 65 && listed.output.contains(good), "\(listed)")
                #expect(listed.errors.contains("\(verb): alert \(bad) "), "\(listed)")
                #expect(!listed.output.contains(/Two|Three/), "\(listed)")
            }
        }
        #expect(try await queue.run("list", "--count", "--source", "alertq").code == 65)
    }

    @Test("A hook is not started for a forged response")
    func hook() async throws {
        _ = try await queue.start(question + ["--detach"]).finish()
        _ = try await queue.run("ask", "Good?", "-b", "yes", "--cancel", "no", "--detach")
        try await queue.forge("UPDATE alerts SET \(ForgedRow.answered) WHERE id = 1")
        let hook = queue.directory + "/hook"
        try "#!/bin/sh\necho $ALERTQ_ALERT >> \(log)\n".write(
            toFile: hook, atomically: true, encoding: .utf8)
        chmod(hook, 0o755)
        let watch = try queue.start(["watch", "--exec", hook])
        #expect(await eventually { watch.errors.text.contains("alert 1 can't be trusted") })
        // The forged response does not block others.
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        #expect(await eventually { (try? String(contentsOfFile: log, encoding: .utf8)) == "2\n" })
        watch.kill(SIGTERM)
        _ = await watch.exit()
        #expect(try String(contentsOfFile: log, encoding: .utf8) == "2\n")
    }

    @Test("A hook for one button is not started for another, even if the columns say so")
    func hookForButton() async throws {
        try await answered()
        _ = try await queue.run("ask", "Good?", "-b", "yes", "--cancel", "no", "--detach")
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        try await queue.forge("UPDATE alerts SET button_index = 0 WHERE id = 1")
        let watch = try queue.start(
            [
                "watch", "--button", "yes", "--exec", "sh", "--", "-c",
                "echo $ALERTQ_ALERT >> '\(log)'",
            ])
        #expect(await eventually { (try? String(contentsOfFile: log, encoding: .utf8)) == "2\n" })
        #expect(await eventually { watch.errors.text.contains("alert 1 can't be trusted") })
        watch.kill(SIGTERM)
        _ = await watch.exit()
        #expect(try String(contentsOfFile: log, encoding: .utf8) == "2\n")
    }

    @Test("An entry that was changed is not shown")
    func shownEntry() async throws {
        try await answered()
        #expect(try await queue.run("collect", "k").code == 10)
        let shown = try await queue.run("show", "1")
        #expect(shown.code == 0 && shown.output.contains("collected"))
        try await queue.forge("UPDATE audit SET user = 'eve' WHERE event = 'collected'")
        let error = try await queue.run("show", "1")
        #expect(error.code == 65, "\(error)")
    }

    @Test("A waiting ask does not return an answer whose entry has no valid hash")
    func waiting() async throws {
        let asker = try queue.start(question)
        #expect(await eventually { asker.errors.text.contains("waiting") })
        try await queue.forge(
            """
            UPDATE alerts SET \(ForgedRow.answered);
            UPDATE alerts SET responder = '0', via = 'terminal', responder_host = 'nas',
                responder_pid = 1, resolved_seq = (SELECT max(seq) + 1 FROM audit);
            INSERT INTO audit (seq, at_ms, event, alert_id, source, outcome, button_index,
                resolved_by, principal, via, host, boot, pid, content, previous, hash)
            SELECT seq + 1, 1, 'resolved', 1, source, 'answered', 0, 'person', '0', 'terminal', 'nas',
                boot, 1, content, hash, hash FROM audit
            """)
        let finished = await asker.finish()
        #expect(finished.code == 65 && finished.output.isEmpty, "\(finished)")
        #expect(finished.errors.contains("alert 1 can't be trusted"))
    }

    @Test("A title that was swapped is not answered, and not shown by a presenter")
    func swapped() async throws {
        _ = try await queue.start(question + ["--detach"]).finish()
        _ = try await queue.run("ask", "Good?", "-b", "yes", "--cancel", "no", "--detach")
        try await queue.forge("UPDATE alerts SET title = 'Keep?' WHERE id = 1")
        #expect(try await queue.run("answer", "1", "yes").code == 65)
        let terminal = try PseudoTerminal()
        let present = try queue.start(["present", "--on", "terminal"], on: terminal)
        #expect(await eventually { terminal.text.contains("Good?") })
        #expect(!terminal.text.contains("Keep?"))
        present.kill(SIGTERM)
        _ = await present.exit()
    }
}
