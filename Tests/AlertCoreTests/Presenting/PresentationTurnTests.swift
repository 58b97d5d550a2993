import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

@Suite("Presentation turn", .inParallel)
struct PresentationTurnTests {
    let turn = PresentationTurn()

    @Test("One has the turn at a time, and the first who waits gets it when it ends")
    func order() async {
        let recorder = Recorder()
        #expect(await turn.take())
        // Each waits by the time the next one begins to.
        let waiting = (1...3).map { number in
            Task.immediate {
                #expect(await turn.take())
                recorder.note("\(number)")
                turn.end()
            }
        }
        #expect(recorder.lines.isEmpty)
        turn.end()
        for task in waiting { await task.value }
        #expect(recorder.lines == ["1", "2", "3"])
        #expect(await turn.take())
        turn.end()
    }

    @Test("A task that was cancelled does not take the turn from others")
    func cancelled() async {
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await turn.take()
        }
        #expect(await !early.value)
        #expect(await turn.take())
        let late = Task.immediate { await turn.take() }
        late.cancel()
        #expect(await !late.value)
        turn.end()
        #expect(await turn.take())
        turn.end()
    }
}
