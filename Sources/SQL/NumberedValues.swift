/// The values of a statement that is put together from parts.
package struct NumberedValues {
    /// What stands before a parameter's number: `?` in SQLite, `$` in PostgreSQL.
    private let mark: String
    package private(set) var all: [Value]

    package init(_ mark: String, _ all: [Value] = []) { (self.mark, self.all) = (mark, all) }

    /// Adds a value; returns the parameter that stands for it, any number of times.
    package mutating func add(_ value: Value) -> String {
        all.append(value)
        return "\(mark)\(all.count)"
    }
}
