import AlertQueue
import AlertQueueTesting
import Foundation
import TestSupport
import Testing

@Suite("The article “Ask for values”", .inParallel)
struct ValueArticleTests {
    @Test("Its examples are a program that runs")
    func runs() async throws {
        // The article begins.
        /// What a copy is to be like.
        struct CopyPlan: Equatable {
            var name: String
            var copies: Int64
            var speed: Double?
            var disks: [String]
        }

        func copyQuestion() -> Alert {
            var alert = Alert(
                "Copy the volume?",
                buttons: [Alert.Button("Copy", id: "copy"), .cancel("Not now", id: "no")])
            alert.addTextField("name") { field in
                field.title = "Name of the copy"
                field.placeholder = "backup-2026"
                field.isRequired = true
                field.kind = .text(.init(length: 1...20, pattern: #"^[\p{L}\p{Nd}-]+$"#))
            }
            alert.fields += [
                Alert.Field("copies", .integer(1...3), title: "Copies", initialValue: 1),
                Alert.Field(
                    "speed", .number(0.1...100), title: "MB/s",
                    detail: "Without one, as fast as possible"),
                Alert.Field(
                    "disks", .choices(["sda", .init("The second", id: "sdb")], count: 1...2),
                    initialValue: ["sda"]),
            ]
            return alert
        }

        func askForCopy(_ manager: AlertManager) async throws -> CopyPlan? {
            let response = try await manager.ask(copyQuestion())
            guard response.outcome == .answered, response.button?.id == "copy",
                let name = response.values["name"]?.text,
                let copies = response.values["copies"]?.integer
            else { return nil }
            return CopyPlan(
                name: name, copies: copies, speed: response.values["speed"]?.number,
                disks: response.values["disks"]?.list ?? [])
        }

        actor Diary: AlertManagerDelegate {
            private(set) var lines: [String] = []

            func clicked(_ alert: AlertRecord, buttonAt index: Int) {
                let values = alert.response?.values ?? [:]
                lines.append("\(alert.alert.buttons[index].id) \(values["name"]?.text ?? "")")
            }
        }

        func answer(
            _ values: [String: Alert.Value], delegate: Diary? = nil
        ) async throws -> CopyPlan? {
            let presenter = ScriptedPresenter { _ in .button(0, Alert.Input(values: values)) }
            let manager = try await AlertManager(
                InMemoryStore(), presenters: [presenter], delegate: delegate)
            let plan = try await askForCopy(manager)
            await manager.close()
            return plan
        }

        let plain = try await answer(["name": "nas-2026"])
        assert(plain == CopyPlan(name: "nas-2026", copies: 1, speed: nil, disks: ["sda"]))

        let diary = Diary()
        let full = try await answer(
            ["name": "größer", "copies": 3, "speed": 2.5, "disks": ["sdb"]], delegate: diary)
        assert(full == CopyPlan(name: "größer", copies: 3, speed: 2.5, disks: ["sdb"]))
        let lines = await diary.lines
        assert(lines == ["copy größer"])
        // The article ends.
    }

    @Test("The program is that of the article")
    func isThatOfTheArticle() throws {
        let file = URL(filePath: #filePath)
        let article = file.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Sources/AlertQueue/AlertQueue.docc/AskingForValues.md")
        let examples = try String(contentsOf: article, encoding: .utf8)
            .components(separatedBy: "```swift\n").dropFirst()
            .flatMap { Self.lines($0.components(separatedBy: "```")[0]) }
        let program = try String(contentsOf: file, encoding: .utf8)
            .components(separatedBy: "// The article begins.\n")[1]
            .components(separatedBy: "// The article ends.")[0]
        #expect(examples.filter { !$0.hasPrefix("import ") } == Self.lines(program))
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}
