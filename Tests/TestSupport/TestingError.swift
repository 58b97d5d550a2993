/// What a test needed did not come about.
package struct TestingError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
