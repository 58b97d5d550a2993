/// A property that parsing sets: that of a required operand, as in `Operand(.alertID, \.$id)`, or
/// one that follows from the options.
///
/// The parser refuses a line without that operand, so that reading the property before it is set
/// is a mistake in this program: it traps.
@propertyWrapper
struct Required<Value: Sendable>: Sendable {
    private var value: Value?

    var wrappedValue: Value {
        get {
            guard let value else { preconditionFailure("parsing has not set this property") }
            return value
        }
        set { value = newValue }
    }

    /// The property that an operand sets. Writing through a key path reads it first.
    var projectedValue: Required {
        get { self }
        set { self = newValue }
    }
}
