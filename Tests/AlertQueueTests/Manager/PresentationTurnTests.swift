import Testing

@testable import AlertQueue

@Suite("Presentation turn")
struct PresentationTurnTests {
    let turn = PresentationTurn()

    @Test("One has the turn at a time, and the next gets it when it ends")
    func order() async {
        #expect(await turn.take())
        let waiting = Task { await turn.take() }
        let recorder = Recorder()
        let told = Task {
            _ = await waiting.value
            recorder.note("taken")
        }
        #expect(recorder.lines.isEmpty)
        turn.end()
        #expect(await waiting.value)
        await told.value
        turn.end()
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
        let late = Task { await turn.take() }
        late.cancel()
        #expect(await !late.value)
        turn.end()
        #expect(await turn.take())
        turn.end()
    }
}
