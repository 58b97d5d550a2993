/// One operation of a client: what it asked for and when, and what it was told and when.
///
/// Times are nanoseconds of `CLOCK_BOOTTIME`, which all processes share.
struct Played: Codable, Sendable {
    enum Verb: String, Codable, CaseIterable {
        case ask, join, conflict, answer, mistake, withdraw, cancel, snooze, collect
        case record, lookUp, count, list, history, head, verify
    }

    /// What a client was told; absent fields keep their defaults.
    struct Told: Codable, Sendable {
        /// The case of ``AlertError``; `nil` for a success.
        var error: String?
        var id: Int64?
        var isJoined: Bool?
        /// `queued` or `resolved`.
        var state: String?
        var outcome: String?
        var index: Int?
        /// Who resolved it.
        var pid: Int32?
        var isCollected: Bool?
        var snoozes: Int?
        /// A list's ids in order; those of alerts that were put off are negative.
        var ids: [Int64]?
        /// A count, or the end of the log.
        var count: Int64?
    }

    var client: Int
    var number: Int
    var pid: Int32
    var verb: Verb
    /// The alert; 0 where the operation has none.
    var id: Int64 = 0
    var title = ""
    var key: String?
    var button = ""
    /// The time until the deadline, in milliseconds.
    var timeout: Int64?
    var invoked: Int64 = 0
    /// `nil` where the client died before it was told.
    var returned: Int64?
    var told = Told()
}
