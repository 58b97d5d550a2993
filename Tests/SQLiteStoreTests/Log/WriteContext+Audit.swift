@testable import AlertCore
@testable import SQLiteStore

extension WriteContext {
    /// Adds an entry to the log that no rule has made.
    func audit(_ draft: AuditDraft, by caller: Caller) throws {
        try append(draft, by: caller, concernsOthers: false)
    }
}
