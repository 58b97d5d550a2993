/// The error when a precondition of a test fails.
package struct TestingError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
