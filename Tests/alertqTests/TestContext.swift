import FoundationEssentials

@testable import alertq

/// A context whose output can be inspected.
struct TestContext {
    let output = Capture()
    let errors = Capture()

    func context(
        columns: Int? = nil, variables: [String: String] = [:], now: Date = Sample.now
    ) -> Context {
        Context(
            output: output.output(columns: columns), errors: errors.output(),
            variables: { variables[$0] }, now: { now })
    }

    func run(_ words: String...) async throws -> ExitCode {
        try await Program.run(words, in: context())
    }
}
