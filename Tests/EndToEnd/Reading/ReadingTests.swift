import Foundation
import ProcessTesting
import TestSupport
import Testing

/// The verbs that read a queue: what they find, and the times that they print.
@Suite("Reading", .inParallel)
struct ReadingTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @discardableResult
    private func ask(_ title: String, _ options: String...) async throws -> String {
        let words = ["ask", title, "-b", "yes", "--cancel", "no", "--detach"] + options
        let asked = try await queue.start(words).finish()
        #expect(asked.code == 0, "\(asked)")
        return String(asked.output.dropLast())
    }

    private func run(_ words: [String], _ environment: [String: String] = [:]) async throws
        -> Finished
    {
        try await queue.start(words, environment: environment).finish()
    }

    /// What a verb prints on a terminal of its own, without colours.
    private func screen(_ verb: String, zone: String) async throws -> String {
        let terminal = try PseudoTerminal(columns: 200)
        let shell = try Child(
            "sh", ["-c", "exec \(CommandLineQueue.program) \(verb) >&2"],
            environment: ["ALERTQ_DATABASE": queue.path, "TZ": zone], on: terminal)
        #expect(await shell.exit() == 0)
        return terminal.text.replacing(/\u{1B}\[[0-9;]*m/, with: "")
    }

    // MARK: What waits

    @Test("A failure is an object of JSON on stderr, for each of several alerts")
    func errorsAsJSON() async throws {
        let queue = try CommandLineQueue()
        _ = try await queue.run("ask", "Q?", "-b", "yes", "--cancel", "no", "--detach")
        let shown = try await queue.run("show", "7", "1", "8", "--json")
        #expect(shown.code == 66)
        #expect(
            shown.output.split(separator: "\n").count == 1 && shown.output.hasPrefix(#"{"id":1"#))
        let errors = [7, 8].map {
            #"{"error":"there is no alert \#($0)","verb":"show","exit_code":66}"# + "\n"
        }
        #expect(shown.errors == errors.joined(), "\(shown)")
        let bare = try await queue.run("show", "7", "8")
        #expect(bare.errors.hasPrefix("alertq: show: there is no alert 7\nalertq: show: "))
    }

    @Test("notify --quiet prints nothing, and doctor says that the environment named the queue")
    func quietNoticeAndNamedQueue() async throws {
        let queue = try CommandLineQueue()
        for options in [["--quiet"], ["-q", "--on", "dialog"]] {
            let notice = try await queue.start(["notify", "N"] + options).finish()
            #expect(notice.code == 0 && notice.output.isEmpty && notice.errors.isEmpty, "\(notice)")
        }
        #expect(try await queue.run("notify", "N", "-q", "--json").output.hasPrefix(#"{"id":3"#))
        let doctor = try await queue.run("doctor")
        let note = "queue: $ALERTQ_DATABASE names \(queue.path)\n"
        #expect(doctor.output.contains(note), "\(doctor)")
        let named = try await queue.run("doctor", "--database", queue.path)
        #expect(!named.output.contains("$ALERTQ_DATABASE"), "\(named)")
    }

    @Test(
        "A local time that the clock skips is moved on by as much; of one that comes twice, the first counts",
        arguments: [
            ("2099-03-29T01:59", "2099-03-29T00:59:00.000Z"),
            ("2099-03-29T02:30", "2099-03-29T01:30:00.000Z"),
            ("2099-03-29T03:00", "2099-03-29T01:00:00.000Z"),
            ("2099-10-25T01:59", "2099-10-24T23:59:00.000Z"),
            ("2099-10-25T02:30", "2099-10-25T00:30:00.000Z"),
            ("2099-10-25T03:00", "2099-10-25T02:00:00.000Z"),
        ])
    func summerTime(text: String, expected: String) async throws {
        let zone = ["TZ": "CET-1CEST,M3.5.0,M10.5.0/3"]
        let asked = try await queue.start(
            ["ask", "?", "--timeout", text, "--detach"], environment: zone
        ).finish()
        #expect(asked.code == 0 && asked.output == "1\n", "\(asked)")
        let alert = try #require(try await queue.objects("show", "1").first)
        #expect(alert["expires_at"] as? String == expected)
        // The clock reads 03:30 then.
        let isSkipped = text.hasSuffix("03-29T02:30")
        let day = isSkipped ? "2099-03-29 03:30" : text.replacing("T", with: " ")
        #expect(asked.errors.contains("alert 1 expires at \(day):00 CE"), "\(asked)")
    }

    @Test("Each condition lists what it describes, and --count counts it")
    func conditions() async throws {
        try await ask("Prune old snapshots?", "--source", "backup", "--key", "one")
        try await ask("Restart?", "--source", "deploy", "--key", "two", "-m", "after the snapshot")
        try await ask("Prüne?", "--source", "backup")
        for (words, ids) in [
            (["--source", "backup"], [1, 3]), (["--key", "two"], [2]),
            (["--since", "1h"], [1, 2, 3]),
            (["--until", "1h"], []), (["--text", "snapshot*"], [1, 2]),
            (["--text", "prune"], [1, 3]),
            (["--text", "prune", "--source", "backup", "--since", "1h", "--limit", "1"], [1]),
            (["--source", "nobody"], []), (["--all"], [1, 2, 3]),
        ] {
            let listed = try await run(["list", "--json"] + words)
            let found = listed.output.matches(of: /\{"id":(\d+)/).compactMap { Int($0.1) }
            #expect(listed.code == 0 && found == ids, "\(words)")
            guard !words.contains("--limit") else { continue }
            #expect(try await run(["list", "--count"] + words).output == "\(ids.count)\n")
        }
    }

    @Test("A list that is cut says how many alerts there are")
    func cut() async throws {
        for number in 1...3 { try await ask("\(number)?", "--source", number < 3 ? "a" : "b") }
        let open = try await run(["list", "--limit", "2"])
        #expect(
            open.errors == "alertq: of 3 waiting alerts, 2 are listed; --all lists all of them\n")
        let some = try await run(["list", "--limit", "1", "--source", "a"])
        #expect(some.errors == "alertq: more alerts match; --all lists all of them\n")
        for words in [["--limit", "2", "--source", "a"], ["--all"], ["--limit", "3"]] {
            #expect(try await run(["list"] + words).errors.isEmpty)
        }
        let both = try await run(["list", "--all", "--limit", "3"])
        #expect(both.code == 64 && both.errors.contains("can't be combined"))
    }

    // MARK: Who decided

    @Test("The history finds decisions by account, and by presenter or verb")
    func responders() async throws {
        for verb in ["answer", "withdraw"] {
            let id = try await ask("?")
            _ = try await run([verb, id] + (verb == "answer" ? ["yes"] : []))
        }
        let user = NSUserName()
        for (words, ids) in [
            (["--user", user], ["2", "1"]), (["--user", user, "--via", "answer"], ["1"]),
            (["--via", "withdraw"], ["2"]), (["--user", "nobody else"], []), (["--via", "x"], []),
        ] as [([String], [String])] {
            let output = try await run(["history"] + words).output
            let found = output.split(separator: "\n").dropFirst()
                .compactMap { $0.split(separator: "\t").first.map(String.init) }
            #expect(found == ids, "\(words)")
        }
    }

    @Test("The last entries of the log, of all or of one alert")
    func last() async throws {
        for _ in 1...3 { _ = try await run(["answer", try await ask("?"), "yes"]) }
        for (words, sequences) in [
            (["--last", "2"], [5, 6]), (["--last", "100"], [1, 2, 3, 4, 5, 6]),
            (["--last", "1", "--alert", "1"], [2]), (["--last", "9", "--alert", "2"], [3, 4]),
        ] {
            let listed = try await run(["audit", "list", "--json"] + words)
            let found = listed.output.matches(of: /\{"sequence":(\d+)/).compactMap { Int($0.1) }
            #expect(found == sequences && listed.errors.isEmpty, "\(words)")
        }
        for other in [["--after", "1"], ["--limit", "3"]] {
            let both = try await run(["audit", "list", "--last", "2"] + other)
            #expect(both.code == 64 && both.errors.contains("can't be combined"))
        }
        #expect(try await run(["audit", "list", "--last", "0"]).code == 64)
    }

    // MARK: Times

    @Test(
        "A terminal shows local time with its zone, or UTC if requested",
        arguments: [("XYZ-5:30", "XYZ"), ("<-03>3", "-03:00")])
    func zones(zone: String, name: String) async throws {
        let id = try await ask("?", "--timeout", "2099-01-01T00:00:00Z")
        _ = try await run(["answer", id, "yes"])
        let local = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (\S+)/
        let utc = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/
        for (verb, count) in [("show 1", 4), ("audit list", 1), ("stats --since 7d", 1)] {
            let people = try await screen(verb, zone: zone)
            #expect(people.matches(of: utc).isEmpty, "\(people)")
            #expect(people.matches(of: local).count >= count, "\(people)")
            for match in people.matches(of: local) {
                #expect(
                    match.1.trimmingCharacters(in: .punctuationCharacters.subtracting(["-"]))
                        == name)
            }
            let other = try await screen(verb + " --utc", zone: zone)
            #expect(other.matches(of: local).isEmpty, "\(other)")
            #expect(other.matches(of: utc).count >= count)
        }
        _ = try await ask("Waits?")
        for verb in ["list", "history"] {
            let listed = try await screen(verb + " --utc", zone: zone)
            #expect(listed.contains("T"))
            #expect(listed.contains("ago") == false)
        }
        for verb in [["show", "1"], ["audit", "list"], ["history"]] {
            let piped = try await run(verb, ["TZ": zone]).output
            #expect(piped.matches(of: local).isEmpty && !piped.matches(of: utc).isEmpty)
        }
    }

    @Test("A note prints a time of today without its date")
    func notes() async throws {
        _ = try await run(["answer", try await ask("?"), "yes"])
        let again = try await run(["answer", "1", "no"], ["TZ": "XYZ-5:30"])
        let user = NSUserName()
        let sentence = try Regex(
            "alertq: answer: alert 1 has already ended: answered “yes” by \(user) "
                + "\\(a program\\) via answer at "
                + "\\d\\d:\\d\\d\n")
        #expect(again.code == 16 && again.errors.wholeMatch(of: sentence) != nil, "\(again.errors)")
    }
}
