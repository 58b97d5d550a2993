/// What becomes of a question that nobody is there to see.
///
/// Somebody is there while a presenter shows the queue's alerts, or while the asker's own terminal
/// does.
package enum Unattended: Sendable, Hashable {
    /// It waits.
    case wait
    /// It is not asked at all.
    case fail
    /// Its default button is applied, by policy: once nobody has been there for a time, or else at
    /// its deadline.
    case applyDefault(after: Duration?)

    package static let option = Option(
        "if-unattended", "WORD", .words(["wait", "fail", "default"]),
        help: """
            What to do when nobody is there to see it: wait, fail with exit 14, or default, which \
            applies --default
            """)
    /// The option of an alert that has no button to apply.
    package static let noticeOption = Option(
        "if-unattended", "WORD", .words(["wait", "fail"]),
        help: "What to do when nobody is there to see it: wait, or fail with exit 14")
    package static let afterOption = Option(
        "unattended-after", "DURATION",
        help: "Apply --default once nobody has been there for so long, before --timeout")

    package static let discussion = """
        Somebody is there while any process shows the alerts of this queue, or while this terminal \
        does; with --on only a process that shows alerts there counts. A process that has not \
        moved for 5 seconds, because it is stopped, does not count. \
        With --if-unattended default, which needs --default and --timeout, the question \
        expires with its default once nobody has been there for the time of --unattended-after \
        without a break; if somebody comes, they have until --timeout. Without --unattended-after \
        that is the time. This process watches for it: if it is killed, --timeout remains.
        """

    package init(
        _ arguments: Arguments, hasButtons: Bool, hasDefault: Bool
    ) throws(UsageError) {
        let options = hasButtons ? ["wait", "fail", "default"] : ["wait", "fail"]
        let option = hasButtons ? Self.option : Self.noticeOption
        let word = try arguments.choice(option, options.map { ($0, $0) })
        let time = try arguments.value(Self.afterOption, DurationText.parse)
        guard time == nil || word == "default" else {
            throw UsageError("--unattended-after is for --if-unattended default")
        }
        switch word {
        case "fail": self = .fail
        case "default":
            guard hasDefault else {
                throw UsageError(
                    "--if-unattended default needs --default, the button that is applied")
            }
            self = .applyDefault(after: time)
        default: self = .wait
        }
    }
}
