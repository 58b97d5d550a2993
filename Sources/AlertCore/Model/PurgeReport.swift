/// What an erasure of old texts has done, or would do.
public struct PurgeReport: Sendable, Hashable {
    /// How many alerts lost their texts.
    public var erased = 0
    /// How many were old enough, but keep their texts because nobody has taken the response.
    ///
    /// Nobody has to, and none is counted, where the alert was withdrawn or had no buttons, unless
    /// it names a handler.
    public var uncollected = 0
    /// How many of the ``uncollected`` ones a named handler has yet to collect.
    public var handled = 0
    /// How many were old enough, but keep their texts because another account asked them; none for
    /// root.
    public var others = 0
    /// How many were old enough, but keep their texts as evidence, because the audit log
    /// contradicts them; ``AlertManager/verifyAudit(expecting:)`` tells how. A dry run does not
    /// look.
    public var contradicted = 0
    /// Whether all erased texts are gone from every file of the queue; `false` where an erasure,
    /// this one or an earlier one, was cancelled after it had erased something.
    public var isComplete = true

    package init() {}
}
