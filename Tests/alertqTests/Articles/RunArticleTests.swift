import Foundation
import TestSupport
import Testing

@testable import alertq

@Suite("Article about approved commands", .inParallel)
struct RunArticleTests {
    @Test("It explains each reason for which nothing ran, and no other")
    func reasons() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let article = try String(
            contentsOfFile: root + "/Sources/AlertQueue/AlertQueue.docc/ApprovedCommands.md",
            encoding: .utf8)
        let row = try #require(article.split(separator: "\n").first { $0.contains("| `reason` |") })
        let words = row.matches(of: /`(\w+)`/).map { String($0.1) }.dropFirst()
        #expect(Set(words) == Set(RunRefusal.Reason.allCases.map(\.rawValue)))
    }
}
