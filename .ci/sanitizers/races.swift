// A program for the thread sanitizer: `locked` is free of races, `race` and `half` are not.
import Foundation
import Synchronization

final class Counters: Sendable {
    let locked = Mutex(0)
    nonisolated(unsafe) var unlocked = 0
}

let counters = Counters()
let kind = CommandLine.arguments.last
let started = Atomic(0)
let threads = (0..<4).map { number in
    Thread {
        // On a busy machine one could end before another begins, and there would be no race to see.
        started.add(1, ordering: .relaxed)
        while started.load(ordering: .relaxed) < 4 { sched_yield() }
        for _ in 0..<20_000 {
            switch kind {
            case "race": counters.unlocked += 1
            // One thread forgets the lock that the others take.
            case "half" where number == 0: counters.unlocked += 1
            case "half": counters.locked.withLock { _ in counters.unlocked += 1 }
            default: counters.locked.withLock { $0 += 1 }
            }
        }
    }
}
for thread in threads { thread.start() }
while !threads.allSatisfy(\.isFinished) { usleep(1000) }
