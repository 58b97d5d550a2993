import AlertQueue
import SQLiteStore
import StoreChecks
import TestSupport
import Testing

@testable import AlertCore

@Suite("Contract of wrong stores", .inParallel)
struct WrongStoreTests {
    @Test(
        "A store with one fault breaks at least one promise", .within(.seconds(300)),
        arguments: WrongStore.Fault.allCases)
    func isFound(fault: WrongStore.Fault) async throws {
        var isBroken = false
        for check in StoreContract.checks where !isBroken {
            let right = try await StoreKind.memory.makeQueue()
            let wrong = ContractQueue { clock in WrongStore(try await right.open(clock), fault) }
            do {
                try await ContractPatience.$limit.withValue(.seconds(2)) {
                    try await check.run(on: wrong)
                }
            } catch {
                // Any error counts: the store may throw where a correct one would not.
                isBroken = true
            }
            await right.close()
        }
        #expect(isBroken)
    }
}
