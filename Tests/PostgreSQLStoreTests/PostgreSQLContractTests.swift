#if PostgreSQL
    import AlertQueueTesting
    import PostgreSQLStore
    import PostgreSQLTesting
    import TestSupport
    import Testing

    @testable import AlertCore

    @Suite("Contract of the store in PostgreSQL", .inParallel, .needsServer)
    struct PostgreSQLContractTests {
        @Test(
            "A store in PostgreSQL keeps each promise of the contract", .within(.seconds(120)),
            arguments: StoreContract.checks)
        func promise(check: StoreCheck) async throws {
            try await check.run(on: try await PostgreSQLQueue().contract)
        }

        @Test(
            "It does so through a pooler, and without notifications", .within(.seconds(120)),
            .needsPooler, arguments: StoreContract.checks)
        func pooled(check: StoreCheck) async throws {
            try await check.run(on: try await PostgreSQLQueue(isPooled: true).contract)
        }
    }
#endif
