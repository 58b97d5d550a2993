import Testing

/// When a test runs, for how long, and on which threads: every suite says `.inParallel` or
/// `.alone`.
public struct TestTurn: SuiteTrait, TestTrait, TestScoping {
    /// How many of the places the test takes, if this says so.
    fileprivate var places: Int?
    /// How long it may take once it runs, if this says so.
    fileprivate var limit: Duration?

    @TaskLocal private static var isRunning = false

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?,
        performing body: @Sendable () async throws -> Void
    ) async throws {
        if Self.isRunning { return try await body() }
        // What a test says itself comes after what its suite says, and counts.
        let turns = test.traits.compactMap { $0 as? TestTurn }
        let places = turns.compactMap(\.places).last ?? 1
        let limit = turns.compactMap(\.limit).last
        try await TestPlaces.all.with(places) {
            try await withTaskExecutorPreference(TestThreads()) {
                try await Self.$isRunning.withValue(true) {
                    try await Self.run(body, within: limit)
                }
            }
        }
    }

    private static func run(
        _ body: @Sendable () async throws -> Void, within limit: Duration?
    ) async throws {
        guard let limit else { return try await body() }
        try await withoutActuallyEscaping(body) { body in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await body()
                    return true
                }
                group.addTask {
                    try? await Task.sleep(for: limit)
                    return false
                }
                if try await group.next() == false {
                    Issue.record("It has not ended within \(limit).")
                }
                group.cancelAll()
                while try await group.next() != nil {}
            }
        }
    }
}

extension Trait where Self == TestTurn {
    /// Runs tests beside others.
    public static var inParallel: Self { inParallel(places: 1) }

    /// Runs tests beside others.
    ///
    /// - Parameter places: How many of the places each takes: more for what keeps several cores
    ///   busy, and for what takes long, because it also starts earlier.
    public static func inParallel(places: Int) -> Self { TestTurn(places: places) }

    /// Runs tests while no other runs.
    ///
    /// - Parameter reason: Why: what the others would change, or would have changed for them.
    public static func alone(because reason: String) -> Self { TestTurn(places: .max) }

    /// Lets a test fail that has not ended some time after it began. The limit of Swift Testing
    /// counts the time for which a test waits for its turn, too.
    public static func within(_ limit: Duration) -> Self { TestTurn(limit: limit) }
}
