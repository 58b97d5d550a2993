import AlertQueue
import Foundation
import TestSupport
import Testing
import TextFormats

@testable import AlertAgents

/// The tables of "Let an agent ask", which follow from the tools.
@Suite("Article about agents", .inParallel)
struct AgentArticleTests {
    private let article: String

    init() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        article = try String(
            contentsOfFile: root + "/Sources/AlertQueue/AlertQueue.docc/Agents.md",
            encoding: .utf8)
    }

    /// The words in backticks of a table's rows, cell by cell.
    private func rows(of head: String) throws -> [[[String]]] {
        let start = try #require(article.firstRange(of: "| \(head) |"))
        return article[start.lowerBound...].split(separator: "\n").dropFirst(2)
            .prefix { $0.hasPrefix("|") }
            .map { row in
                row.split(separator: "|").map { cell in
                    cell.matches(of: /`(\w+)`/).map { String($0.1) }
                }
            }
    }

    private func properties(_ schema: JSONValue) -> [String] {
        schema["properties"]?.members?.map(\.key) ?? []
    }

    @Test("It lists the tools with their arguments")
    func tools() throws {
        let rows = try rows(of: "tool")
        #expect(rows.map { $0[0] } == AgentTools.all.map { [$0.name] })
        for (row, tool) in zip(rows, AgentTools.all) {
            #expect(row[1] == properties(tool.input), "\(tool.name)")
        }
    }

    @Test("It explains each state and each reason")
    func states() throws {
        let states = AgentTools.ask.output["properties"]?["state"]?["enum"]?.elements
        let listed = try rows(of: "`state`").flatMap { $0[0] }
        #expect(Set(listed) == Set(states?.compactMap(\.string) ?? []))
        let schema = AgentTools.ask.output["properties"]?["reason"]?["description"]?.string ?? ""
        for reason in AgentFailure.Reason.allCases.map(\.rawValue) {
            #expect(article.contains("`\(reason)`") && schema.contains(reason), "\(reason)")
        }
    }

    @Test("Every tool tells a model how to wait, or that it does not, and none answers")
    func descriptions() {
        for tool in AgentTools.all {
            #expect(tool.description.contains("wait"), "\(tool.name)")
            #expect(tool.hints["readOnlyHint"] != nil)
            #expect(!["answer", "approve"].contains(tool.name))
        }
    }
}
