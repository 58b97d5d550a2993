/// The result of an erasure of old texts, or of its dry run.
public struct PurgeReport: Sendable, Hashable, Codable {
    /// How many alerts lost their texts.
    public var erased = 0
    /// How many were old enough but keep their texts because nobody has taken the response.
    ///
    /// Withdrawn alerts and alerts without buttons need no collecting and are not counted, unless
    /// they name a handler.
    public var uncollected = 0
    /// How many of the ``uncollected`` ones a named handler has yet to collect.
    public var handled = 0
    /// How many were old enough but keep their texts because another account asked them; for
    /// root, only accounts of other machines count.
    public var others = 0
    /// How many were old enough but keep their texts as evidence because the audit log contradicts
    /// them; ``AlertManager/verifyAudit(expecting:)`` explains how. A dry run does not check this.
    public var contradicted = 0
    /// Whether all erased texts are gone from every file of the queue, or from the table on a server,
    /// whose own files keep removed bytes for longer; `false` if the file was not rewritten, or the
    /// table not vacuumed, after an erasure, this one or an earlier one, or if that was cancelled.
    public var isComplete = true

    package init() {}
}
