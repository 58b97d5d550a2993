import AlertCore

/// A broken promise of a store.
package struct ContractFailure: Error, CustomStringConvertible {
    package let description: String
}

// Expectations of the contract's checks. They throw instead of recording an issue, so that any test
// library can run the checks, also on stores that are wrong on purpose.

func expect(
    _ isTrue: Bool, _ promise: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) throws(ContractFailure) {
    guard !isTrue else { return }
    throw ContractFailure(description: "\(file):\(line): not true: \(promise())")
}

func expectEqual<Value: Equatable>(
    _ value: Value, _ expected: Value, _ what: @autoclosure () -> String,
    file: StaticString = #fileID, line: UInt = #line
) throws(ContractFailure) {
    guard value != expected else { return }
    throw ContractFailure(
        description: "\(file):\(line): \(what()): \(value), instead of \(expected)")
}

func require<Value>(
    _ value: Value?, _ what: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) throws(ContractFailure) -> Value {
    guard let value else {
        throw ContractFailure(description: "\(file):\(line): there is no \(what())")
    }
    return value
}

/// The error that a call throws.
@discardableResult
nonisolated(nonsending) func expectError(
    _ kinds: String..., file: StaticString = #fileID, line: UInt = #line,
    _ body: () async throws -> some Any
) async throws(ContractFailure) -> AlertError {
    let result: String
    do {
        result = "\(try await body())"
    } catch let error as AlertError {
        if kinds.contains(error.kind) { return error }
        result = "the error \(error.kind) (\(error))"
    } catch {
        result = "the error \(error)"
    }
    throw ContractFailure(
        description: "\(file):\(line): \(result), instead of the error \(kinds)")
}

/// Waits until a condition holds, for at most ``ContractPatience/limit``, or `time` if that is more.
nonisolated(nonsending) func expectSoon(
    _ promise: String, atMost time: Duration = .zero, file: StaticString = #fileID,
    line: UInt = #line, _ condition: () async throws -> Bool
) async throws {
    let limit = ContinuousClock.now + max(ContractPatience.limit, time)
    while try await !condition() {
        try expect(ContinuousClock.now < limit, promise, file: file, line: line)
        try await Task.sleep(for: .milliseconds(2))
    }
}

extension AlertError {
    /// The case's name.
    package var kind: String {
        Mirror(reflecting: self).children.first?.label
            ?? (self == .detached ? "detached" : "closed")
    }

    /// The response that the error carries.
    var response: Response? {
        switch self {
        case .late(let response), .alreadyResolved(let response), .noChoice(let response): response
        default: nil
        }
    }
}
