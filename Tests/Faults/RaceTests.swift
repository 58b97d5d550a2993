import ProcessTesting
import TestSupport
import Testing

@Suite("Race", .inParallel)
struct RaceTests {
    private let queue: CommandLineQueue
    private let ledger = Ledger()
    private let buttons = ["a", "b", "c", "d"]

    init() throws { queue = try CommandLineQueue() }

    @Test("Of four commands that answer one alert, one wins, and the others name the winner")
    func commands() async throws {
        let asker = try await QueueClient(on: queue)
        for number in 1...FaultForm.count(short: 30, full: 500) {
            let id = try await ask(number, asker)
            let racers = try buttons.map { try queue.start(["answer", "\(id)", $0]) }
            var ends: [Finished] = []
            for racer in racers { ends.append(await racer.finish()) }
            let winners = buttons.indices.filter { ends[$0].code == 0 }
            #expect(winners.count == 1, "\(ends)")
            guard let winner = winners.first else { continue }
            ledger.note(answer: buttons[winner], to: id)
            for end in ends where end.code != 0 {
                #expect(end.code == 16, "\(end)")
                #expect(end.errors.contains("answered “\(buttons[winner])” by"), "\(end)")
            }
        }
        #expect(try await queue.faults(against: ledger) == [])
    }

    @Test("Of four processes that answer each alert, one wins, and the others get the winner's pid")
    func clients() async throws {
        let asker = try await QueueClient(on: queue)
        var racers: [QueueClient] = []
        for _ in buttons { racers.append(try await QueueClient(on: queue)) }
        var wins: [Int: Int] = [:]
        for number in 1...FaultForm.count(short: 170, full: 10_000) {
            let id = try await ask(number, asker)
            // A different process gets its request first each time.
            for offset in 0..<4 {
                let index = (offset + number) % 4
                try racers[index].send("answer", ["id": id, "button": buttons[index]])
            }
            var replies: [QueueClient.Reply] = []
            for racer in racers { replies.append(try await racer.reply()) }
            let winners = buttons.indices.filter { replies[$0].error == nil }
            #expect(winners.count == 1, "alert \(id): \(replies)")
            guard let winner = winners.first else { continue }
            wins[winner, default: 0] += 1
            ledger.note(answer: buttons[winner], to: id)
            for reply in replies where reply.error != nil {
                #expect(reply.error == "alreadyResolved")
                #expect(reply.number("pid") == Int(racers[winner].process.pid))
                #expect(reply.text("button") == buttons[winner])
            }
        }
        print("Race: wins of the four processes: \(wins.values.sorted())")
        #expect(try await queue.faults(against: ledger) == [])
    }

    private func ask(_ number: Int, _ asker: QueueClient) async throws -> Int {
        let title = "Question \(number)"
        let asked = try await asker.ask("ask", ["title": title, "buttons": buttons])
        let id = try #require(asked.id)
        ledger.note(ask: id, title: title)
        return id
    }
}
