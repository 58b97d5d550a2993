import AlertQueue
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import TextFormats

@testable import alertq

@Suite("Output", .inParallel)
struct OutputTests {
    @Test("The line of an alert has all keys in their order, and null for absent values")
    func line() throws {
        var alert = Sample.alert
        alert.fields = [Alert.Field("name", title: "Name")]
        let input = Alert.Input(values: ["name": .text("old")], note: "after the release")
        let line = try AlertJSON.line(Sample.record(alert, Sample.response(input: input)))
        // What was asked: the tests of properties look at each.
        let (id, style) = (#"{"id":42,"source":"backup","#, #""style":"alert","title":"Prune old"#)
        #expect(line.hasPrefix(id + style), "\(line)")
        for member in [
            #""message":"40 GB","#, #""on":null,"#, #""info":{"disk":"a/b","host":"nas"},"#,
            #"[{"id":"yes","title":"Yes","role":null},{"id":"no","title":"No","role":"cancel"}],"#,
            #""fields":[{"id":"name","type":"string","title":"Name"}],"#,
        ] {
            #expect(line.contains(member), "\(line)")
        }
        // What happened.
        #expect(
            line.hasSuffix(
                """
                "state":"resolved","asked_at":"2026-11-20T10:00:00.000Z","presented_at":null,\
                "resolved_at":"2026-11-20T10:01:00.000Z","collected_at":null,"expires_at":null,\
                "snoozed_until":null,"snoozes":0,"outcome":"answered","button":"yes",\
                "button_index":0,"by":"person","responder":{"uid":1000,"user":"ana",\
                "via":"terminal","tty":"/dev/pts/3","ssh":null,"host":"nas","pid":4711,\
                "account_host":null,"principal":"1000","means":null},\
                "unseen":false,"expires_by":null,"timeout_ms":null,"handled":null,\
                "seen":null,"uid":0,"pid":99,"host":"nas","stored":true,"orphaned":false,\
                "values":{"name":"old"},"note":"after the release","superseded_by":null,\
                "stale":false,"account_host":null,"contradicted":false,\
                "principal":"0","means":null,"claimed_by":null,"claimed_until":null}
                """))
    }

    @Test("An alert that waits has null where its response will be")
    func waiting() throws {
        let line = try AlertJSON.line(Sample.record(Alert("T")))
        #expect(line.contains(#""message":null,"default":null,"priority":"normal","key":null"#))
        #expect(line.contains(#""state":"queued""#))
        #expect(
            line.hasSuffix(
                """
                "outcome":null,"button":null,"button_index":null,"by":null,"responder":null,\
                "unseen":false,"expires_by":null,"timeout_ms":null,"handled":null,\
                "seen":null,"uid":0,"pid":99,"host":"nas","stored":true,"orphaned":false,\
                "values":{},"note":null,"superseded_by":null,\
                "stale":false,"account_host":null,"contradicted":false,\
                "principal":"0","means":null,"claimed_by":null,"claimed_until":null}
                """))
    }

    @Test("A question that was not stored has the same keys in JSON")
    func unasked() throws {
        let stored = try AlertJSON.line(Sample.record())
        let unasked = try AlertJSON.line(unasked: Sample.alert, source: "backup")
        #expect(
            unasked.hasPrefix(#"{"id":null,"source":"backup","style":"alert","title":"Prune old s"#)
        )
        let keys = { (line: String) in
            try JSONDecoder().decode([String: Ignored].self, from: Data(line.utf8)).keys.sorted()
        }
        #expect(try keys(stored) == keys(unasked))
    }

    private struct Ignored: Decodable { init(from decoder: any Decoder) {} }

    @Test(
        "Any text comes back from JSON as it was, on one line in which a terminal obeys nothing",
        arguments: [
            "plain", "a/b", "quote \" back \\ slash", "line\nbreak\r\t\u{0}", "👩‍👩‍👧 é 日本",
            "\u{1B}[2J\u{9B}1m\u{7F}", "\u{202E}reversed\u{2066}", "\u{2028}\u{2029}\u{85}",
            "\u{E0001}tag",
        ])
    func strings(text: String) throws {
        let line = try JSONValue.string(text).text()
        #expect(try JSONDecoder().decode(String.self, from: Data(line.utf8)) == text)
        #expect(SafeText.line(line) == line)
    }

    @Test("A table that is not on a terminal has tabs, and cuts nothing")
    func tabs() throws {
        let context = TestContext().context()
        let long = String(repeating: "word ", count: 40) + "end\tof\u{1B}[0m it"
        var alert = Sample.alert
        alert.title = long
        let text = ListCommand.table([Sample.record(alert)], in: context)
        #expect(
            text == """
                ID\tASKED\tSOURCE\tASKED BY\tPRIORITY\tSTATE\tBUTTONS\tTITLE
                42\t2026-11-20T10:00:00.000Z\tbackup\troot\tnormal\tqueued\tyes,no\t\
                \(SafeText.line(long))

                """)
    }

    @Test("A table on a terminal is aligned, cut to its width, and has ages")
    func aligned() throws {
        let context = TestContext().context(columns: 60, variables: ["NO_COLOR": "1"])
        let text = ListCommand.table([Sample.record()], in: context)
        #expect(
            text == """
                ID  ASKED      SOURCE  STATE   BUTTONS  TITLE
                42  3 min ago  backup  queued  yes,no   Prune old snapshots?

                """)
    }

    @Test("A table keeps its title readable in any window", arguments: [40, 80, 200])
    func fitted(columns: Int) throws {
        var alert = Sample.alert
        alert.title = "A title of more than thirty columns"
        alert.source = String(repeating: "backup", count: 20)
        alert.buttons = (1...16).map { Alert.Button("button \($0)") }
        let context = TestContext().context(columns: columns, variables: ["NO_COLOR": "1"])
        let tables = [
            ListCommand.table([Sample.record(alert)], in: context),
            {
                var table = HistoryCommand.table(in: context)
                let record = Sample.record(alert, Sample.response())
                return table.text([HistoryCommand.row(record, askedBy: "root", in: context)])
            }(),
        ]
        for text in tables {
            let lines = text.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= columns }, "\(text)")
            let start = try #require(lines[0].firstRange(of: "TITLE")).lowerBound
            let offset = lines[0].distance(from: lines[0].startIndex, to: start)
            #expect(lines[1].dropFirst(offset).hasPrefix("A title of more tha"), "\(text)")
        }
    }

    @Test("Columns are cut, the widest first, before any are left out")
    func layout() {
        let fits = TableLayout(natural: [2, 9, 40, 50], title: 3, dropped: [1], columns: 200)
        #expect(fits.columns == [0, 1, 2, 3] && fits.widths == [2, 9, 40, 50])
        let cut = TableLayout(natural: [2, 9, 40, 50], title: 3, dropped: [1], columns: 50)
        #expect(cut.columns == [0, 1, 2, 3] && cut.widths == [2, 9, 13, 20])
        let dropped = TableLayout(natural: [2, 9, 40, 50], title: 3, dropped: [1], columns: 40)
        #expect(dropped.columns == [0, 2, 3] && dropped.widths == [2, 9, 14, 20])
        let uncut = TableLayout(
            natural: [2, 24, 40, 50], title: 3, dropped: [1], uncut: [1], columns: 62)
        #expect(uncut.columns == [0, 1, 2, 3] && uncut.widths == [2, 24, 10, 20])
        let gone = TableLayout(
            natural: [2, 24, 40, 50], title: 3, dropped: [1], uncut: [1], columns: 61)
        #expect(gone.columns == [0, 2, 3] && gone.widths == [2, 24, 30, 25])
        let tiny = TableLayout(natural: [2, 9, 40, 50], title: 3, dropped: [1, 2], columns: 5)
        #expect(tiny.columns == [0, 3])
    }

    @Test(
        "Only a terminal that can show colours gets them",
        arguments: [
            (80, [:], true), (nil, [:], false), (80, ["NO_COLOR": "1"], false),
            (80, ["TERM": "dumb"], false), (80, ["TERM": "xterm"], true),
        ] as [(Int?, [String: String], Bool)])
    func colours(columns: Int?, variables: [String: String], isColoured: Bool) {
        let context = TestContext().context(columns: columns, variables: variables)
        #expect(context.style.isColoured == isColoured)
        #expect(ListCommand.table([], in: context).contains("\u{1B}[1m") == isColoured)
    }

    @Test("A row of the history has the outcome, the button and the user")
    func history() {
        let context = TestContext().context()
        let record = Sample.record(Sample.alert, Sample.response())
        let row = HistoryCommand.row(record, askedBy: "root", in: context)
        #expect(
            row == [
                "42", "2026-11-20T10:01:00.000Z", "backup", "root", "answered", "yes",
                "person (ana)", "Prune old snapshots?",
            ])
    }

    @Test("A row of the history distinguishes handled from simulated cancellations")
    func cancels() {
        let context = TestContext().context()
        let by = { (handling: CancelHandling) in
            let response = Sample.response(.cancelled, by: .system, handling: handling)
            let record = Sample.record(Sample.alert, response)
            return HistoryCommand.row(record, askedBy: "root", in: context)[6]
        }
        #expect(by(.handled) == "system (ana), handled")
        #expect(by(.simulateCancelButton) == "system (ana), simulated")
    }

    @Test("Everything about an alert is shown, one item per line")
    func show() {
        let context = TestContext().context()
        let record = Sample.record(Sample.alert, Sample.response(.expired, button: 1, by: .policy))
        #expect(
            ShowCommand.text(record, in: context) == """
                alert          42
                title          Prune old snapshots?
                message        40 GB
                source         backup (root, process 99 on nas)
                key            prune-2026-11
                style          alert
                priority       normal
                button         yes=Yes
                button         no=No (cancel)
                info           disk=a/b
                info           host=nas
                state          resolved
                asked          2026-11-20T10:00:00.000Z
                presented      never: it expired unseen
                response       expired at 2026-11-20T10:01:00.000Z; it had not been shown, and the \
                default “No” was applied by policy

                """)
    }

    @Test(
        "An age has one unit",
        arguments: [
            (0, "now"), (30, "30 s ago"), (180, "3 min ago"), (7_300, "2 h ago"),
            (200_000, "2 d ago"), (-90, "in 2 min"),
            (-7_199.9, "in 2 h"), (-7_200, "in 2 h"), (-3_570, "in 1 h"), (-59.5, "in 1 min"),
            (-86_000, "in 1 d"), (-0.5, "now"),
        ])
    func ages(seconds: Double, text: String) {
        let date = Sample.now.addingTimeInterval(-seconds)
        #expect(TimeText.relative(date, to: Sample.now) == text)
    }

    @Test("A pipe that accepts little at a time gets everything")
    func slowPipe() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        try #require(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
        // More than a pipe holds.
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        defer { close(reading) }
        // On the threads of this test alone: both of them block.
        async let written: Void = Self.write(bytes, closing: writing)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 50_000)
        // Not to the end of the pipe, which a process of another test may have inherited.
        while received.count < bytes.count, case let count = read(reading, &buffer, buffer.count),
            count > 0
        {
            received += buffer[..<count]
        }
        try await written
        #expect(received == bytes)
    }

    private static func write(_ bytes: [UInt8], closing pipe: Int32) async throws {
        defer { close(pipe) }
        try Output.write(bytes, to: pipe)
    }
}
