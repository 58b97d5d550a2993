/// What one check of a queue found, for `alertq doctor`.
///
/// Every problem comes with advice: a person who asks for a doctor wants to know what to do.
package struct Finding: Sendable {
    package enum Kind: Sendable {
        case well
        /// Neither well nor a problem.
        case note
        case problem(Trouble)
        /// The check could not be made, or something can't be used.
        case failure(any Error)
    }

    /// The kinds of problems.
    package enum Trouble: Sendable {
        /// Something has waited too long, and nobody shows alerts.
        case unanswered
        /// The queue is not as it was made, or contradicts its log.
        case badData
        case notFound
        /// The disk or the database fails, or may lose something.
        case inputOutput
        /// A process, or a setting, keeps the queue from working.
        case busy
        case notPermitted
    }

    package let check: String
    package let detail: String
    package let advice: String?
    /// The statements for `sqlite3` or `psql` that the advice is about.
    package let sql: String?
    package let kind: Kind

    /// All is well, or there is something to know.
    package init(
        check: String, detail: String, advice: String? = nil, sql: String? = nil,
        isNote: Bool = false
    ) {
        self.check = check
        self.detail = detail
        self.advice = advice
        self.sql = sql
        kind = isNote ? .note : .well
    }

    /// Something is wrong.
    package init(
        check: String, problem: String, advice: String, code: Trouble, sql: String? = nil
    ) {
        self.check = check
        detail = problem
        self.advice = advice
        self.sql = sql
        kind = .problem(code)
    }

    /// A check could not be made, or something can't be used.
    ///
    /// - Parameter advice: What to do; `nil` if the error tells.
    package init(check: String, failure error: any Error, advice: String? = nil) {
        self.check = check
        detail = "\(error)"
        self.advice = advice
        sql = nil
        kind = .failure(error)
    }
}

extension Finding {
    package var isNote: Bool {
        if case .note = kind { true } else { false }
    }

    /// What is wrong; `nil` if nothing is, or an error tells.
    package var trouble: Trouble? {
        if case .problem(let trouble) = kind { trouble } else { nil }
    }
}

// MARK: - Schemas

extension Finding {
    /// What a comparison of a schema with the one that a version makes has found.
    ///
    /// - Parameter additions: The names of objects that other programs have added, and that do no
    ///   harm: `the table “notes”`.
    package static func schema(
        _ version: Int, faults: [Finding], additions: [String]
    ) -> [Finding] {
        let whole = Finding(check: "schema", detail: "matches version \(version)")
        return (faults.isEmpty ? [whole] : faults)
            + additions.map {
                Finding(
                    check: "schema", detail: "\($0) is not alertq's; it does no harm",
                    isNote: true)
            }
    }
}
