/// The promises of every store, as checks: a new kind of store is done when it passes all of them.
///
/// ```text
/// @Test("The store keeps the contract", arguments: StoreContract.checks)
/// func contract(check: StoreCheck) async throws {
///     try await check.run(on: ContractQueue { clock in try await openStore(clock) })
/// }
/// ```
package enum StoreContract {
    /// All checks; each needs an empty queue.
    ///
    /// Those of news come last: it takes a store a second to report that nothing is new, and some
    /// seconds to report that something can't be stored.
    package static let checks =
        asking + keys + numbered + replacing + resolving + running + authority + time + snoozes
        + claims + order + turns
        + pages + history + log + posted + screens + waiting + fields + validity + closing
        + requests + news + trouble
}
