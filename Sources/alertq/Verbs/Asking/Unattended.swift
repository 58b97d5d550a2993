/// What becomes of a question that nobody is there to see.
///
/// Somebody is there while a presenter shows the queue's alerts, or while the asker's own terminal
/// does.
enum Unattended: Sendable, Hashable {
    /// It waits.
    case wait
    /// It is not asked at all.
    case fail
    /// Its default button is applied, by policy: once nobody has been there for a time, or else at
    /// its deadline.
    case applyDefault(after: Duration?)

    /// The words of `--if-unattended`.
    enum Word: String, Sendable, CaseIterable {
        case wait, fail
        case applyDefault = "default"
    }

    static let discussion = """
        Somebody is there while any process shows the alerts of this queue, or while this terminal \
        does; with --on, only a process that shows alerts on that presenter counts. A process that \
        has not responded for 5 seconds, because it is stopped, does not count. With \
        --if-unattended default, which needs --default and --timeout, the question expires with \
        its default once nobody has been there for the whole duration of --unattended-after; if \
        somebody comes, they have until --timeout. Without --unattended-after, the default is \
        applied at --timeout. This process does that: if it is killed, only --timeout applies.
        """

    init(_ word: Word, after time: Duration?) {
        switch word {
        case .wait: self = .wait
        case .fail: self = .fail
        case .applyDefault: self = .applyDefault(after: time)
        }
    }
}

extension Argument where Value == Unattended.Word {
    /// What can become of an alert that has no button to apply.
    static var unattendedNotice: Argument {
        word(among: [Value.wait, .fail].map { ($0.rawValue, $0) })
    }
}
