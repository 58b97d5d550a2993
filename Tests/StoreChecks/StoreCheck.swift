/// A check of one promise that every store makes.
package struct StoreCheck: Sendable, CustomStringConvertible {
    /// The promise, as a sentence that can be false.
    package let description: String
    private let body: @Sendable (ContractQueue) async throws -> Void

    init(
        _ description: String, _ body: @escaping @Sendable (ContractQueue) async throws -> Void
    ) {
        self.description = description
        self.body = body
    }

    /// Checks the promise on an empty queue.
    ///
    /// - Throws: ``ContractFailure`` if the promise is not kept.
    package func run(on queue: ContractQueue) async throws {
        try await body(queue)
        await queue.close()
    }
}
