import AlertQueue
import Foundation
import SQLite
import TestSupport
import Testing

@testable import alertq

@Suite("Printing a response", .inParallel)
struct ResponsePrinterTests {
    private let test = TestContext()

    private func answered(_ queue: TestQueue, _ alert: Alert, _ button: String) async throws
        -> AlertRecord
    {
        let id = try await queue.manager.show(alert)
        return try await queue.manager.answer(id, button: button)
    }

    private func isCollected(_ record: AlertRecord, _ queue: TestQueue) async throws -> Bool {
        try await queue.manager.record(record.id).response?.collectedAt != nil
    }

    @Test("A response counts as collected once it has been printed, and not before")
    func collected() async throws {
        let queue = try await TestQueue()
        let record = try await answered(queue, Sample.alert, "yes")
        let broken = Output { _ throws(OutputError) in throw OutputError(errorNumber: ENOSPC) }
        let failing = ResponsePrinter(
            verb: "ask", isJSON: false,
            context: Context(
                output: broken, errors: test.errors.output(), variables: { _ in nil },
                now: { Sample.now }))
        await #expect(throws: OutputError.self) { try await failing.print(record, queue.manager) }
        #expect(try await !isCollected(record, queue))
        #expect(test.errors.text.contains("alert 1: answered"))
        let printer = ResponsePrinter(verb: "ask", isJSON: false, context: test.context())
        #expect(try await printer.print(record, queue.manager) == .done)
        #expect(test.output.text == "yes\n")
        #expect(try await isCollected(record, queue))
        await queue.manager.close()
    }

    @Test("A response that belongs to a named handler is printed, and left to it")
    func handler() async throws {
        let queue = try await TestQueue()
        var alert = Sample.alert
        alert.handler = "apply"
        let record = try await answered(queue, alert, "no")
        let printer = ResponsePrinter(verb: "ask", isJSON: false, context: test.context())
        #expect(try await printer.print(record, queue.manager) == .cancelButton)
        #expect(test.output.text == "no\n")
        #expect(try await !isCollected(record, queue))
        await queue.manager.close()
    }

    @Test("No value and no note makes a line of its own, whatever ends a line for a program")
    func lines() async throws {
        let queue = try await TestQueue()
        var alert = Alert("Go on?", buttons: ["Yes", .cancel("No")])
        alert.fields = [
            Alert.Field("text", .text(Alert.Field.TextRules(isMultiline: true)))
        ]
        let breaks = "\n\r\t\u{B}\u{C}\u{1C}\u{1D}\u{1E}\u{85}\u{2028}\u{2029}\\"
        let id = try await queue.manager.show(alert)
        let record = try await queue.manager.answer(
            id, button: "Yes",
            input: Alert.Input(values: ["text": .text("a\(breaks)b")], note: "c\(breaks)d"))
        let printer = ResponsePrinter(verb: "ask", isJSON: false, context: test.context())
        #expect(try await printer.print(record, queue.manager) == .done)
        let shown = #"\n\r\t\u000b\u000c\u001c\u001d\u001e\u0085\u2028\u2029\\"#
        #expect(test.output.text == "Yes\ntext\ta\(shown)b\n\tc\(shown)d\n")
        await queue.manager.close()
    }

    @Test("A program gets a button's id as it is, a terminal without anything that it might obey")
    func hostile() async throws {
        let queue = try await TestQueue()
        let id = "\u{202E}yes"
        let record = try await answered(
            queue, Alert("Go on?", buttons: [Alert.Button("Yes", id: id), .cancel("No")]), id)
        for (columns, expected) in [(nil, id + "\n"), (80, "⟨U+202E⟩yes\n")] as [(Int?, String)] {
            let test = TestContext()
            let printer = ResponsePrinter(
                verb: "ask", isJSON: false, context: test.context(columns: columns))
            #expect(try await printer.print(record, queue.manager) == .done)
            #expect(test.output.text == expected)
        }
        await queue.manager.close()
    }

    @Test("A dismissed notice exits with 0, a dismissed question does not")
    func dismissed() async throws {
        let queue = try await TestQueue()
        let record = Sample.record(Alert("Done"), Sample.response(.dismissed, button: -1))
        for (verb, code) in [("notify", ExitCode.done), ("ask", .dismissed)] {
            let printer = ResponsePrinter(verb: verb, isJSON: false, context: test.context())
            #expect(try await printer.print(record, queue.manager) == code)
        }
        #expect(test.output.text.isEmpty)
        await queue.manager.close()
    }
}
