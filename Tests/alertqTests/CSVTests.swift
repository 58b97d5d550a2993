import AlertQueue
import TestSupport
import Testing

@testable import alertq

@Suite("Comma-separated values", .inParallel)
struct CSVTests {
    @Test(
        "A field is quoted where necessary, and is never a formula",
        arguments: [
            ("plain", "plain"), ("", ""), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""),
            ("a\nb", "\"a\nb\""), ("a\r\nb", "\"a\r\nb\""), (" a ", "\" a \""),
            ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"),
            ("a\u{1E}b", "\"a\u{1E}b\""), ("é\u{2028}", "\"é\u{2028}\""), ("\u{85}", "\"\u{85}\""),
            ("\tx", "'\tx"), ("'", "''"), ("'=1", "''=1"), ("＝1", "'＝1"), ("ünïcödé", "ünïcödé"),
            ("a\"\u{301},b", "\"a\"\"\u{301},b\""),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
        ])
    func fields(text: String, field: String) {
        #expect(CSVText.row([.text(text), .number(-1)]) == field + ",-1\r\n")
    }

    @Test("An absent value is an empty field")
    func absent() {
        #expect(CSVText.row([.text(nil), .number(nil), .number(0)]) == ",,0\r\n")
    }

    @Test("A row has a field for each name of the header")
    func row() {
        let record = Sample.record(Sample.alert, Sample.response())
        let names = AlertCSV.header.dropLast().split(separator: ",")
        let fields = AlertCSV.row(record, isShown: false).dropLast()
            .split(separator: ",", omittingEmptySubsequences: false)
        #expect(fields.count == names.count)
        let row = Dictionary(zip(names, fields)) { $1 }
        #expect(row["id"] == "42" && row["button"] == "yes" && row["button_index"] == "0")
        #expect(row["title"] == "Prune old snapshots?" && row["tty"] == "/dev/pts/3")
        #expect(row["resolved_at"] == "2026-11-20T10:01:00.000Z" && row["collected_at"] == "")
    }

    @Test("Only a cancellation is handled or simulated")
    func cancels() {
        let fields = { (response: Response) in
            AlertCSV.row(Sample.record(Sample.alert, response), isShown: false).dropLast()
                .split(separator: ",", omittingEmptySubsequences: false).dropLast(12).last
        }
        #expect(
            AlertCSV.header.hasSuffix(
                ",handled,values,note,superseded_by,valid_ms,stale,source_account_host,"
                    + "account_host,contradicted,source_principal,source_means,principal,means\r\n")
        )
        #expect(fields(Sample.response(.cancelled, by: .system, handling: .handled)) == "true")
        let simulated = Sample.response(.cancelled, by: .system, handling: .simulateCancelButton)
        #expect(fields(simulated) == "false")
        #expect(fields(Sample.response()) == "")
    }

    @Test("No text can control the terminal")
    func shown() {
        var alert = Sample.alert
        alert.title = "a\u{1B}[31mb"
        let record = Sample.record(alert, Sample.response())
        #expect(AlertCSV.row(record, isShown: false).contains("\u{1B}"))
        #expect(!AlertCSV.row(record, isShown: true).contains("\u{1B}"))
    }
}
