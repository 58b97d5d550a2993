import AlertCore
import AlertTables
import SQL
import StoreChecks

extension AlertProperty {
    /// The assignment that gives a row of ``Alert/withAllProperties`` another value.
    package var assignment: String {
        var other = Alert.withAllProperties
        change(in: &other)
        switch value(of: other) {
        case .integer(let number): return "\(column) = \(number)"
        case .text(let text): return "\(column) = '\(text.replacing("'", with: "''"))'"
        case .null, .blob: return "\(column) = NULL"
        }
    }
}
