import AlertQueue

/// The options of the hooks.
struct HookOptions: Sendable {
    /// What an agent is told when nobody has answered.
    enum Unanswered: String, Sendable, CaseIterable {
        case prompt, deny
    }

    var source: String?
    @Defaulted var wait = Duration.seconds(540)
    @Defaulted var priority = Alert.Priority.normal
    var presenters: [String] = []
    var ifUnanswered: Unanswered?
    var needsPerson = false

    func validate() throws(UsageError) {
        if let source { try UsageError.check(source, "source", of: "--source") }
        for name in presenters {
            try UsageError.check(name, "name of a presenter", of: "--on")
        }
        if let name = presenters.firstRepeated {
            throw UsageError("--on \(name) is given twice")
        }
    }
}
