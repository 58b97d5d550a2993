import Foundation
import ProcessTesting
import TestSupport
import Testing

/// What `alertq stats` draws, and the tables behind that.
@Suite("Numbers and their pictures", .inParallel, .within(.seconds(120)))
struct NumbersTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Markup, also under accents.
    private static let markup = "<b>&\"x<\u{301}i>&\u{301}"

    /// Some alerts of two sources, one of which has a name with markup.
    private func fill() async throws {
        for source in ["backup", Self.markup] {
            for _ in 1...3 {
                let asked = try await queue.run(
                    "ask", "Q", "--source", source, "--detach", "-b", "yes", "--cancel", "no")
                #expect(asked.code == 0)
            }
        }
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.run("withdraw", "4").code == 0)
    }

    @Test("A drawing is a file of its own, has the numbers, and no name is markup in it")
    func drawing() async throws {
        try await fill()
        let file = queue.directory + "/numbers.svg"
        #expect(try await queue.run("stats", "--svg", file).code == 0)
        let svg = try String(contentsOfFile: file, encoding: .utf8)
        #expect(try await queue.run("stats", "--svg", "-").output == svg)
        let reader = """
            import sys, xml.etree.ElementTree as tree
            for text in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text"):
                print(text.text or "")
            """
        let child = try Child("python3", ["-c", reader, file])
        let texts = await child.finish().output.split(separator: "\n").map(String.init)
        for text in ["Alerts", "6 asked", "waiting 4, 67 %", "withdrawn 1, 17 %", Self.markup] {
            #expect(texts.contains(text), "\(text): \(texts)")
        }
        #expect(!svg.contains("<script") && !svg.contains("href"))
        let nowhere = try await queue.run("stats", "--svg", "/nonexistent/numbers.svg")
        #expect(nowhere.code == 74 && nowhere.errors.contains("/nonexistent"), "\(nowhere)")
    }

    @Test("Where nothing was asked, the pictures say so")
    func nothing() async throws {
        #expect(try await queue.run("notify", "Done").code == 0)
        let drawing = try await queue.run("stats", "--svg", "-", "--source", "nobody")
        #expect(drawing.code == 0 && drawing.output.contains("nothing was asked"), "\(drawing)")
        #expect(try await queue.run("stats", "--by", "user").code == 0)
    }

    @Test("Tables have a row for each day, source or person")
    func tables() async throws {
        try await fill()
        let sources = try await queue.run("stats", "--by", "source").output.split(separator: "\n")
        #expect(sources.count == 3 && sources[1].hasPrefix(Self.markup + "\t3\t2\t0\t0\t0\t0\t1"))
        let users = try await queue.run("stats", "--by", "user")
        #expect(users.output.hasPrefix("USER\tANSWERS\tMEDIAN\t90 % WITHIN\n"), "\(users)")
        let days = try await queue.start(
            ["stats", "--by", "day", "--since", "2026-03-27"],
            environment: ["TZ": "Europe/Berlin"]
        ).finish()
        let rows = days.output.split(separator: "\n").dropFirst()
        let names = rows.compactMap { $0.split(separator: "\t").first }
        #expect(names.first == "2026-03-27" && Set(names).count == names.count, "\(days)")
        #expect(names.contains("2026-03-29") && names.contains("2026-10-25"))
        #expect(names == names.sorted() && rows.last?.contains("\t6\t4\t") == true)
        let json = try await queue.objects("stats")[0]
        let counted = json["days"] as? [[String: any Sendable]]
        #expect(counted?.count == 30 && counted?.last?["asked"] as? Int == 6)
    }

    @Test("A terminal that is wide enough gets bars", arguments: [30, 60])
    func terminal(columns: Int) async throws {
        try await fill()
        let terminal = try PseudoTerminal(columns: columns)
        let child = try Child(
            "sh", ["-c", "exec \(CommandLineQueue.program) stats >&2"],
            environment: ["ALERTQ_DATABASE": queue.path], on: terminal)
        #expect(await child.exit() == 0)
        #expect(await eventually { terminal.text.contains("By button") })
        #expect(terminal.text.contains("Questions a day") == (columns == 60))
    }

    @Test(
        "Forms can't be combined",
        arguments: [["--json", "--by", "day"], ["--by", "day", "--svg", "-"]])
    func combined(options: [String]) async throws {
        let refused = try await queue.start(["stats"] + options).finish()
        #expect(refused.code == 64 && refused.errors.contains("can't be combined"), "\(refused)")
    }
}
