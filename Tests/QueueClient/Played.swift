/// One operation of a client: its arguments and when it began, its result and when it returned.
///
/// Times are nanoseconds of `CLOCK_BOOTTIME`, which all processes share.
struct Played: Codable, Sendable {
    enum Verb: String, Codable, CaseIterable {
        case ask, join, conflict, answer, mistake, withdraw, cancel, snooze, collect
        case record, lookUp, count, list, history, head, verify
    }

    /// The result of an operation; absent fields have their defaults.
    struct Told: Codable, Sendable {
        /// The case of ``AlertError``; `nil` for a success.
        var error: String?
        var id: Int64?
        var isJoined: Bool?
        /// `queued` or `resolved`.
        var state: String?
        var outcome: String?
        var index: Int?
        /// The process that resolved the alert.
        var pid: Int32?
        var isCollected: Bool?
        var snoozes: Int?
        /// A list's ids in order; those of snoozed alerts are negative.
        var ids: [Int64]?
        /// A count, or the last number of the log.
        var count: Int64?
    }

    var client: Int
    var number: Int
    var pid: Int32
    var verb: Verb
    /// The alert; 0 if the operation has none.
    var id: Int64 = 0
    var title = ""
    var key: String?
    var button = ""
    /// The time until the deadline, in milliseconds.
    var timeout: Int64?
    var invoked: Int64 = 0
    /// When the operation returned; `nil` if the client died before that.
    var returned: Int64?
    var told = Told()
}
