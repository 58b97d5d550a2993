import FoundationEssentials
import TestSupport
import Testing

@testable import alertq

@Suite("Manual page", .inParallel)
struct ManualPageTests {
    @Test("The page has every verb, every option and every exit code")
    func complete() {
        let page = ManualPage.text
        for verb in Verbs.all {
            #expect(page.contains("\n.SS alertq \(verb.name) "), "\(verb.name)")
            for option in verb.syntax.options {
                let name = option.name.replacing("-", with: "\\-")
                #expect(page.contains("\\fB\\-\\-\(name)\\fR"), "--\(option.name)")
            }
        }
        for code in ExitCode.allCases { #expect(page.contains("\n.B \(code.rawValue)\n")) }
    }

    @Test("No text on the page is taken for a troff request")
    func requests() {
        let requests: Set = [
            ".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".RS", ".RE", ".nf", ".fi",
        ]
        for line in ManualPage.text.split(separator: "\n") {
            guard let first = line.first, first == "." || first == "'" else { continue }
            #expect(requests.contains(String(line.prefix { $0 != " " })), "\(line)")
        }
    }
}
