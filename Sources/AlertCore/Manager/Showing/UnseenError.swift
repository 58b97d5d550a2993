/// The reason why a presenter counts as failing that has not shown an alert in time, such as one in
/// a window that is too small.
struct UnseenError: Error, CustomStringConvertible {
    var description: String { "the alert has not appeared on the screen" }
}
