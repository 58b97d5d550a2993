import AlertCore

/// The error that a call throws, or `nil`.
package func thrown(_ body: () async throws -> some Any) async -> AlertError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? AlertError
    }
}
