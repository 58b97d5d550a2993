/// The values of a statement that is put together from parts.
package struct NumberedValues {
    package private(set) var all: [Value]

    package init(_ all: [Value] = []) { self.all = all }

    /// Adds a value; returns the parameter that stands for it, any number of times.
    package mutating func add(_ value: Value) -> String {
        all.append(value)
        return "$\(all.count)"
    }
}
