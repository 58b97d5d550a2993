import AlertCore

/// A call of a store as a value, which another process carries out.
package enum StoreCall: Sendable, Codable {
    case open
    case commit([Change], request: IdempotencyKey?, by: Caller, under: Epoch?)
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
    case claim(Alert.ID, for: ClaimPurpose)
    case endClaim(Int)
    case close
}

/// A line from a client.
package struct StoreRequest: Sendable, Codable {
    package var id: Int
    /// Which of the client's stores it is for.
    package var store: Int
    /// The reading of that store's clock.
    package var now: Reading
    /// `nil` if only the clock has moved.
    package var call: StoreCall?

    package struct Reading: Sendable, Hashable, Codable {
        package var wallMilliseconds: Int64
        package var bootMilliseconds: Int64
        package var boot: String
        package var isBootUnknown: Bool

        package init(_ reading: ClockReading) {
            wallMilliseconds = reading.wallMilliseconds
            bootMilliseconds = reading.bootMilliseconds
            boot = reading.boot
            isBootUnknown = reading.isBootUnknown
        }

        package var reading: ClockReading {
            var reading = ClockReading(
                wallMilliseconds: wallMilliseconds, bootMilliseconds: bootMilliseconds,
                boot: boot)
            reading.isBootUnknown = isBootUnknown
            return reading
        }
    }
}

/// A line from a server: the result of the call, or its error.
package struct StoreReply<Value: Codable>: Codable {
    package var id: Int
    package var position: LogPosition?
    package var value: Value?
    package var error: AlertError?
}

/// The part of a line that can be read even if the rest can't.
struct StoreRequestHead: Decodable {
    let id: Int
}

/// The part of a reply that tells which call it is for.
struct StoreReplyHead: Decodable {
    let id: Int
    let position: LogPosition?
}

/// The result of a call that has none.
struct Nothing: Codable {}

/// What came of one change.
struct ChangeResult: Codable {
    var receipt: Receipt?
    var error: AlertError?

    init(_ result: Result<Receipt, AlertError>) {
        switch result {
        case .success(let receipt): self.receipt = receipt
        case .failure(let error): self.error = error
        }
    }

    var result: Result<Receipt, AlertError> {
        receipt.map(Result.success) ?? .failure(error ?? .closed)
    }
}

/// A screen that was attached.
struct AttachedLease: Codable {
    var number: Int
    var epoch: Epoch
}
