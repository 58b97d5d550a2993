/// Something about an alert that can't be true.
package struct AlertFault: Sendable {
    /// The entry that says otherwise; `nil` if no single one does.
    let sequence: Int64?
    /// The rest of a sentence that begins with the alert, such as `was never asked`.
    let what: String

    package init(_ what: String, at sequence: Int64? = nil) {
        self.what = what
        self.sequence = sequence
    }

    /// The fault as a verification reports it.
    package func problem(of id: Alert.ID) -> AuditReport.Problem {
        AuditReport.Problem(sequence: sequence, alertID: id, reason: "alert \(id) \(what)")
    }

    /// The error of a reading that may not return the alert.
    package func error(of id: Alert.ID) -> AlertError { .inconsistent(id, "it \(what)") }
}
