/// Assignments with which a forger gives a row of `alerts` a response, or takes it away.
package enum ForgedRow {
    /// An answer by a person that no entry records.
    package static let answered = """
        outcome = 'answered', button_index = 0, resolved_by = 'person', handled = 0,
        resolved_ms = 1, resolved_seq = 1
        """

    /// No response.
    package static let waiting = """
        outcome = NULL, button_index = NULL, resolved_by = NULL, handled = NULL,
        responder = NULL, responder_name = NULL, via = NULL, tty = NULL, ssh = NULL,
        responder_means = NULL, responder_host = NULL, responder_pid = NULL, resolved_ms = NULL, resolved_seq = NULL,
        collected_ms = NULL
        """
}
