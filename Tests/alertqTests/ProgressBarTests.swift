import AlertQueue
import Synchronization
import TestSupport
import Testing

@testable import alertq

@Suite("Progress bar", .inParallel)
struct ProgressBarTests {
    private let test = TestContext()
    private let moment = ManualMoment()

    private func bar(columns: Int?, variables: [String: String] = [:]) -> ProgressBar {
        let context = Context(
            output: test.output.output(), errors: test.errors.output(columns: columns),
            variables: { variables[$0] })
        return ProgressBar("working", in: context, time: { [moment] in moment.now })
    }

    @Test("Work of less than half a second shows nothing")
    func short() {
        let bar = bar(columns: 80)
        moment.advance(by: .milliseconds(499))
        bar.show(1, of: 2)
        bar.clear()
        #expect(test.errors.text.isEmpty)
    }

    @Test("It is drawn ten times a second at most, and cleared at the end")
    func rate() {
        let bar = bar(columns: 80)
        for _ in 0..<2000 {
            moment.advance(by: .milliseconds(1))
            bar.show(1, of: 2)
        }
        let draws = test.errors.text.split(separator: "\r").count
        #expect((14...16).contains(draws))
        bar.clear()
        #expect(test.errors.text.hasSuffix("\r\u{1B}[K"))
    }

    @Test("Nothing is written where stderr is no terminal, or a dumb one")
    func elsewhere() {
        for bar in [bar(columns: nil), bar(columns: 80, variables: ["TERM": "dumb"])] {
            moment.advance(by: .seconds(10))
            bar.show(1, of: 2)
            bar.clear()
        }
        #expect(test.errors.text.isEmpty)
        #expect(test.output.text.isEmpty)
    }

    @Test("It never fills its line", arguments: [1, 20, 40, 80, 132, 200, 500])
    func width(columns: Int) {
        for (done, total) in [(0, 0), (0, 10_000_000), (1234, 10_000_000), (5, 5), (7, 5)] {
            let line = ProgressBar.line(
                "checking the database", done, of: total, after: .seconds(100), columns: columns)
            #expect(line.count < max(columns, 20))
        }
    }

    @Test("It tells the share, the counts and the time that is left")
    func text() {
        let line = ProgressBar.line(
            "erasing", 250_000, of: 1_000_000, after: .seconds(30), columns: 80)
        #expect(line.hasPrefix("erasing  [#####"))
        #expect(line.contains("....] 25 %  250,000 of 1,000,000  1 min 30 s left"))
        let narrow = ProgressBar.line(
            "erasing", 250_000, of: 1_000_000, after: .seconds(30), columns: 40)
        #expect(narrow.contains("25 %"))
        #expect(narrow.contains("#"))
    }
}

/// A moment that only moves when it is told to.
private final class ManualMoment: Sendable {
    private let instant = Mutex(ContinuousClock.now)
    var now: ContinuousClock.Instant { instant.withLock { $0 } }
    func advance(by time: Duration) { instant.withLock { $0 += time } }
}
