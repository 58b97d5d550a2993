import AlertQueue
import Foundation
import TestSupport
import Testing

@testable import alertq

/// The tables of "The command alertq", which follow from the verbs' declarations and from the exit
/// codes.
///
/// `ALERTQ_WRITE_HELP=1` writes them anew.
@Suite("Article about the command", .inParallel)
struct CommandArticleTests {
    private static let path =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        + "/Sources/AlertQueue/AlertQueue.docc/Command.md"

    /// The rows of a table, each with its cells.
    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n").replacing("| --- | --- |", with: "|---|---|") + "\n"
    }

    private static var tables: [String] {
        let verbs = Verbs.all.map { verb in
            let syntax = verb.syntax
            let words = [syntax.name] + syntax.operands.map(\.usage)
            return ["`\(words.joined(separator: " "))`", syntax.abstract]
        }
        let codes = ExitCode.allCases.map { ["\($0.rawValue)", $0.meaning] }
        return [table(["verb", "does"], verbs), table(["exit", "meaning"], codes)]
    }

    @Test("The article has the tables that follow from the code")
    func tables() throws {
        var article = try String(contentsOfFile: Self.path, encoding: .utf8)
        if try Context.variable("ALERTQ_WRITE_HELP") != nil {
            for table in Self.tables {
                let head = table.prefix { $0 != "\n" }
                let start = try #require(article.firstRange(of: head)).lowerBound
                let end = article[start...].firstRange(of: "\n\n")?.lowerBound ?? article.endIndex
                article.replaceSubrange(start..<end, with: table.dropLast())
            }
            try article.write(toFile: Self.path, atomically: true, encoding: .utf8)
        }
        for table in Self.tables { #expect(article.contains("\n\n" + table + "\n"), "\(table)") }
    }
}
