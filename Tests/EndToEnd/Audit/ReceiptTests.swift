import AlertQueue
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// What `receipt` prints is checked without the queue, by alertq and by an independent verifier.
@Suite("Receipts", .inParallel)
struct ReceiptTests {
    let queue: CommandLineQueue
    /// A queue that knows nothing of the other.
    let elsewhere: CommandLineQueue

    init() throws { (queue, elsewhere) = (try CommandLineQueue(), try CommandLineQueue()) }

    private var file: String { elsewhere.directory + "/receipt" }

    private static let script =
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "verify_receipt.py")
        .path

    /// Asks a question with all that can be asked, and answers it amid other questions.
    private func answered() async throws {
        let asked = try await queue.run(
            "ask", "Rename “ünï” 🎉?", "-m", "to what?\nnow", "-b", "yes=Yes", "--destructive",
            "rm=Remove",
            "--cancel", "no=No", "--field", "name=Name", "--key", "k", "--info", "path=/srv",
            "--valid", "1h", "--timeout", "2h", "--detach", "--source", "backup")
        #expect(asked.code == 0, "\(asked)")
        for title in ["Other?", "Third?"] {
            #expect(try await queue.run("ask", title, "--detach", "-b", "yes").code == 0)
        }
        #expect(try await queue.run("claim", "1").code == 0)
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        let answer = try await queue.run(
            "answer", "1", "yes", "--set", "name=nas", "--note", "as agreed")
        #expect(answer.code == 0, "\(answer)")
        #expect(try await queue.run("answer", "3", "yes").code == 0)
    }

    private func receipt(_ words: String...) async throws -> String {
        let printed = try await queue.start(["receipt"] + words).finish()
        #expect(printed.code == 0, "\(printed)")
        return printed.output
    }

    /// What both verifiers say of a receipt.
    private func verify(
        _ receipt: String, _ options: String...
    ) async throws -> (own: Finished, other: Finished) {
        try Data(receipt.utf8).write(to: URL(filePath: file))
        let own = try elsewhere.start(["audit", "verify", "--receipt", file] + options)
        let other = try Child("python3", ["-B", Self.script] + options + [file])
        return (await own.finish(), await other.finish())
    }

    private func head() async throws -> String {
        String(try await queue.run("audit", "head").output.dropLast())
    }

    @Test("A receipt verifies on another machine, and says what was asked and who chose what")
    func verifies() async throws {
        try await answered()
        let printed = try await receipt("1")
        #expect(!printed.contains("Other?"), "\(printed)")
        let (own, other) = try await verify(printed)
        #expect(own.code == 0 && other.code == 0, "\(own) \(other)")
        for text in [
            "alert 1 of backup: Rename", "answered “Yes” by", "Name: nas", "note: as agreed",
        ] {
            #expect(own.output.contains(text), "\(text): \(own)")
        }
        #expect(other.output.contains("answered, yes, by "), "\(other)")
        let json = ["sh", "-c", #"exec "$@" <"$0""#, file]
        let found = try await elsewhere.start(
            ["audit", "verify", "--receipt", "-", "--json"], under: json
        ).finish()
        #expect(
            found.output.hasPrefix(#"{"verifies":true,"alert":1,"entries":3,"head":""#), "\(found)")
    }

    @Test("A receipt may be on several lines, as other programs write it")
    func indented() async throws {
        try await answered()
        let printed = try await receipt("1")
        let indent =
            "import json, sys; print(json.dumps(json.loads(sys.argv[1]), indent=2))"
        let child = try Child("python3", ["-c", indent, printed])
        let text = await child.finish().output
        #expect(text.count { $0 == "\n" } > 20)
        let (own, other) = try await verify(text)
        #expect(own.code == 0 && other.code == 0, "\(own) \(other)")
        let (changed, forged) = try await verify(text.replacing("Rename", with: "Remove"))
        #expect(changed.code == 65 && forged.code == 1, "\(changed) \(forged)")
        #expect(changed.errors.count { $0 == "\n" } == 1, "\(changed)")
    }

    @Test("The chain reaches a head that was kept, and no other")
    func heads() async throws {
        try await answered()
        let kept = try await head()
        #expect(try await queue.run("answer", "9", "yes").code == 66)
        #expect(try await queue.run("notify", "later").code == 0)
        let printed = try await receipt("1", "--head", kept)
        let (own, other) = try await verify(printed, "--head", kept)
        #expect(own.code == 0 && other.code == 0, "\(own) \(other)")
        let late = try await head()
        let (missing, absent) = try await verify(printed, "--head", late)
        #expect(missing.code == 65 && absent.code == 1, "\(missing) \(absent)")
        #expect(missing.errors.contains("does not reach the head"), "\(missing)")
        // Only what comes before a head that was kept is shown by it.
        let asked = try #require(
            try await queue.objects("audit", "list").first?["cursor"] as? String)
        let early = try await receipt("1", "--head", asked)
        let (waiting, unanswered) = try await verify(early, "--head", asked)
        #expect(waiting.code == 0 && unanswered.code == 0, "\(waiting) \(unanswered)")
        #expect(waiting.output.contains("not ended by that head"), "\(waiting)")
        let after = try await verify(printed, "--head", asked)
        #expect(after.own.code == 65 && after.other.code == 1, "\(after)")
        let short = try await verify(try await receipt("1"), "--head", kept)
        #expect(short.own.code == 65, "the alert's last entry is before that head")
        let wrong = "7:" + String(repeating: "0", count: 64)
        #expect(try await queue.run("receipt", "1", "--head", wrong).code == 66)
        let beyond = "99" + kept.drop { $0 != ":" }
        #expect(try await queue.run("receipt", "1", "--head", beyond).code == 66)
    }

    @Test("A waiting, withdrawn or expired alert has a receipt; an erased one has none")
    func kinds() async throws {
        for title in ["Waits?", "Withdrawn?", "Expires?"] {
            let words = ["ask", title, "-b", "yes", "--detach"]
            let limit = title == "Expires?" ? ["--timeout", "1ms"] : []
            #expect(try await queue.start(words + limit).finish().code == 0)
        }
        #expect(try await queue.run("withdraw", "2", "--because", "over").code == 0)
        #expect(try await queue.run("wait", "3").code == 12)
        let printed = try await receipt("1", "2", "3")
        for (line, text) in zip(
            printed.split(separator: "\n"), ["not ended by that head", "note: over", "expired"])
        {
            let (own, other) = try await verify(String(line))
            #expect(
                own.code == 0 && other.code == 0 && own.output.contains(text), "\(own) \(other)")
        }
        let all = try await verify(printed)
        #expect(all.own.code == 0 && all.own.output.contains("Waits?"), "\(all.own)")
        #expect(try await queue.run("purge", "--older-than", "1ms").code == 0)
        let erased = try await queue.run("receipt", "2")
        #expect(erased.code == 65 && erased.errors.contains("have been erased"), "\(erased)")
        #expect(try await queue.run("receipt", "99").code == 66)
    }

    @Test("A receipt with any one value changed is refused")
    func forged() async throws {
        try await answered()
        let kept = try await head()
        let printed = try await receipt("1", "--head", kept)
        let head = try #require(AuditHead(kept))
        var forgeries = Self.forgeries(of: printed)
        #expect(forgeries.count > 100)
        forgeries += try Self.hiding(2, in: printed)
        forgeries += ["", "{}", "[1]", "null", "{\"receipt\":\"alertq-receipt-2\"}", "\u{0}"]
        var files: [String] = []
        for (number, forgery) in forgeries.enumerated() {
            try #require(forgery != printed)
            #expect(throws: AlertError.self, "\(forgery)") {
                try AlertReceipt(forgery).check(expecting: head)
            }
            files.append("\(file).\(number)")
            try Data(forgery.utf8).write(to: URL(filePath: files[number]))
        }
        let other = await (try Child("python3", ["-B", Self.script] + files)).finish()
        #expect(other.output.isEmpty && other.code == 1, "\(other)")
        #expect(other.errors.split(separator: "\n").count == files.count, "\(other.errors)")
        let own = await (try elsewhere.start(["audit", "verify", "--receipt", files[7]])).finish()
        #expect(own.code == 65 && own.output.isEmpty, "\(own)")
        let missing = try await elsewhere.run("audit", "verify", "--receipt", "/nonexistent")
        #expect(missing.code == 66, "\(missing)")
    }

    @Test("A service and the API give the same receipt")
    func served() async throws {
        try await answered()
        let own = try await receipt("1")
        let service = try await CommandLineQueue.Service(of: queue)
        let through = try await queue.run("receipt", "1", "--database", service.location)
        #expect(through.output == own, "\(through)")
        let api = try APIClient(of: service)
        let reply = try api.request("GET", "/v1/alerts/1/receipt", nil)
        #expect(reply.status == 200 && reply.body["receipt"] as? String == "alertq-receipt-1")
        let wrong = try api.request("GET", "/v1/alerts/1/receipt?head=7", nil)
        #expect(wrong.status == 400, "\(wrong)")
    }
}

extension ReceiptTests {
    /// The receipt with one of its entries among those about other alerts.
    private static func hiding(_ index: Int, in receipt: String) throws -> [String] {
        let entry = try AlertReceipt(receipt).entries[index]
        let text = try entry.exported.text()
        let match = try #require(receipt.firstMatch(of: /"between":(\[.*\]),"head"/))
        let json = try JSONSerialization.jsonObject(with: Data(match.1.utf8))
        let between = try #require(json as? [[String]])
        return try [entry.event.alertID ?? 0, 0, 2].map { alert in
            var forged = between
            forged[index - 1] += ["\(alert):\(Hex.text(entry.ownHash()))"] + forged[index]
            forged.remove(at: index)
            let list = try JSONSerialization.data(withJSONObject: forged)
            return receipt.replacing(match.1, with: String(decoding: list, as: UTF8.self))
                .replacing("," + text, with: "")
        }
    }

    /// The receipt with each of its values changed, one at a time.
    private static func forgeries(of receipt: String) -> [String] {
        let token = /"(?:[^"\\]|\\.)*"(:?)|-?[0-9]+|null|true|false/
        return receipt.matches(of: token).filter { ($0.1 ?? "").isEmpty }.map { match in
            let old = match.0
            var new: String
            switch old {
            case "null": new = #""x""#
            case "true": new = "false"
            case "false": new = "true"
            case _ where old.hasPrefix("\""):
                // Another digit is still one of a hash.
                let last = old.dropLast().last
                new = old.dropLast(last == "\"" ? 1 : 2) + (last == "0" ? "1" : "0") + "\""
            default: new = String((Int64(old) ?? 0) + 1)
            }
            return receipt.replacingCharacters(in: match.range, with: new)
        }
    }
}
