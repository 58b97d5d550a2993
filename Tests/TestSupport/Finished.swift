/// The exit code and output of a process that has ended.
package struct Finished: Sendable {
    package let code: Int32?
    package let output: String
    package let errors: String

    package init(code: Int32?, output: String, errors: String) {
        (self.code, self.output, self.errors) = (code, output, errors)
    }
}
