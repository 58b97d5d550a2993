import AlertQueue
import Foundation
import Synchronization

/// Tasks that ask and wait for the answer, and tasks that answer, for some time.
///
/// Which button is chosen follows from the alert's number, so that each asker knows what the answer
/// to its question must be.
final class Crowd: Sendable {
    private struct Counts {
        var asked = 0
        /// How many took how many milliseconds, the last one as many or more.
        var answers = [Int](repeating: 0, count: 5000)
        var errors: [String] = []
    }

    private let manager: AlertManager
    private let name: String
    private let (askers, answerers): (Int, Int)
    private let end: ContinuousClock.Instant
    private let counts = Mutex(Counts())

    init(_ request: Request, on manager: AlertManager) throws {
        self.manager = manager
        name = try request.text("name")
        askers = Int(try request.number("askers"))
        answerers = Int(try request.number("answerers"))
        end = .now + .seconds(try request.number("seconds"))
    }

    func run() async throws -> sending [String: Any] {
        await withTaskGroup { group in
            for number in 0..<askers { group.addTask { await self.ask(number) } }
            for _ in 0..<answerers { group.addTask { await self.answer() } }
        }
        let counts = counts.withLock { $0 }
        return ["asked": counts.asked, "answers": counts.answers, "errors": counts.errors]
    }

    private static func button(of id: Int64) -> String { id.isMultiple(of: 2) ? "yes" : "no" }

    private func ask(_ number: Int) async {
        var count = 0
        while ContinuousClock.now < end {
            count += 1
            let title = "\(name).\(number).\(count)"
            do {
                let alert = Alert(title, buttons: ["yes", .cancel("no")])
                let id = try await manager.submit(alert).record.id
                let answered = try await manager.resolution(of: id)
                let button = answered.response?.button?.id
                if answered.alert.title != title || button != Self.button(of: id) {
                    note("\(title): \(answered.alert.title), \(button ?? "nothing")")
                }
                counts.withLock { $0.asked += 1 }
            } catch {
                note("\(title): \(error)")
            }
        }
    }

    private func answer() async {
        while ContinuousClock.now < end {
            do {
                guard let id = try await manager.pending(limit: 50).randomElement()?.id else {
                    try await Task.sleep(for: .milliseconds(5))
                    continue
                }
                let start = ContinuousClock.now
                _ = try await manager.answer(id, button: Self.button(of: id))
                let time = Int(start.duration(to: .now) / .milliseconds(1))
                counts.withLock { $0.answers[min(time, $0.answers.count - 1)] += 1 }
            } catch AlertError.alreadyResolved {
                continue
            } catch {
                note("answer: \(error)")
            }
        }
    }

    private func note(_ error: String) {
        counts.withLock { if $0.errors.count < 100 { $0.errors.append(error) } }
    }
}
