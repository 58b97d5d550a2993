import AlertQueue
import AlertQueueTesting
import SQLiteStore
import TestSupport
import Testing

@testable import AlertCore

@Suite("Contract of the stores", .inParallel)
struct StoreContractTests {
    @Test(
        "A store keeps what the seam promises", .within(.seconds(120)),
        arguments: StoreKind.allCases, StoreContract.checks)
    func promise(kind: StoreKind, check: StoreCheck) async throws {
        try await check.run(on: try kind.makeQueue())
    }

    @Test("Each promise is made once")
    func names() {
        let names = StoreContract.checks.map(\.description)
        #expect(Set(names).count == names.count && names.count > 60)
    }
}
