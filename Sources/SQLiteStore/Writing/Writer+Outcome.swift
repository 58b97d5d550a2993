import AlertCore

extension Writer {
    /// The members of a transaction, and what has become of them.
    struct Outcome {
        private(set) var jobs: [WriteJob] = []
        /// For each job, in order: why it was refused before it was tried, or `nil`.
        private(set) var refusals: [AlertError?] = []
        /// For each job, in order: the error if nothing of it is stored, or `nil`.
        var errors: [AlertError?] = []
        var isCommitted = false
        /// The transaction's changes to the audit log.
        var change: LogTail.Commit?
        /// Whether other tasks of this process must examine what has happened.
        var concernsOthers = false
        var mustKeepDeferred = false

        /// Adds members.
        mutating func admit(_ jobs: [WriteJob], refusals: [AlertError?]) {
            self.jobs += jobs
            self.refusals += refusals
            errors += refusals
            let isKept = { (job: WriteJob, refusal: AlertError?) in
                job.kind == .upkeep && refusal != nil
            }
            mustKeepDeferred = mustKeepDeferred || zip(jobs, refusals).contains(where: isKept)
        }
    }
}
