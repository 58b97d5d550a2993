import AlertQueue
import SQLiteStore
import StoreChecks
import TestSupport
import Testing

@testable import AlertCore

@Suite("Contract of the stores", .inParallel)
struct StoreContractTests {
    @Test(
        "A store keeps each promise of the contract", .within(.seconds(120)),
        arguments: StoreKind.tried, StoreContract.checks)
    func promise(kind: StoreKind, check: StoreCheck) async throws {
        try await check.run(on: try await kind.makeQueue())
    }

    @Test("No two promises have the same name")
    func names() {
        let names = StoreContract.checks.map(\.description)
        #expect(Set(names).count == names.count && names.count > 60)
    }
}
