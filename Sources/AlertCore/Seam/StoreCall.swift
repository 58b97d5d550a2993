/// A call of a store as a value, which a service carries out.
package enum StoreCall: Sendable, Codable {
    case commit([Change], request: IdempotencyKey, by: Caller, under: Epoch?)
    case post(PostedEntry, by: Caller)
    case find(AlertReference)
    case next(ScreenQuery)
    case waiting(besides: Alert.ID)
    case pendingCount
    case page(RecordQuery)
    case statistics(StatisticsQuery)
    case entries(LogQuery)
    case news(after: LogPosition, of: News.Scope)
    case verify(expecting: AuditHead?)
    case attach(AttachedScreen)
    case announce(lease: Int, AttachedScreen, wantsLead: Bool)
    case leaseState(lease: Int, after: LeaseState)
    case release(lease: Int)
    case screens
    case lease(Alert.ID, for: LeasePurpose)
    /// Returns when a lease is lost, or has been ended.
    case waitForLeaseEnd(Int)
    case endLease(Int)
    /// Returns once everything that was posted is on disk.
    case flush
}

/// The result of a call that has none.
package struct Nothing: Sendable, Codable {
    package init() {}
}

/// What came of one change.
package struct ChangeResult: Sendable, Codable {
    private var receipt: Receipt?
    private var error: AlertError?

    package init(_ result: Result<Receipt, AlertError>) {
        switch result {
        case .success(let receipt): self.receipt = receipt
        case .failure(let error): self.error = error
        }
    }

    package var result: Result<Receipt, AlertError> {
        receipt.map(Result.success) ?? .failure(error ?? .closed)
    }
}

/// A screen that was attached, under the number by which later calls name it.
package struct AttachedLease: Sendable, Codable {
    package let number: Int
    package let epoch: Epoch

    package init(number: Int, epoch: Epoch) {
        self.number = number
        self.epoch = epoch
    }
}

/// A lease that was granted, under the number by which later calls name it.
package struct GrantedLease: Sendable, Codable {
    package let number: Int
    /// Under which changes are refused once the lease is lost; `nil` for one that gives no right.
    package let epoch: Epoch?

    package init(number: Int, epoch: Epoch?) {
        self.number = number
        self.epoch = epoch
    }
}
