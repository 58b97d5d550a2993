/// A property with a default that an option replaces, for verbs whose rules ask whether it was
/// given: `Option("limit", .count(), \.$limit, help: "…", default: \.description)`.
@propertyWrapper
struct Defaulted<Value: Sendable>: Sendable {
    private(set) var wrappedValue: Value
    private(set) var isGiven = false

    init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    /// The property that an option sets, and that says whether it did.
    var projectedValue: Defaulted {
        get { self }
        set { self = newValue }
    }

    mutating func give(_ value: Value) {
        wrappedValue = value
        isGiven = true
    }
}
