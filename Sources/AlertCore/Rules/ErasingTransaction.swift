/// A write transaction of a store that can erase the texts of alerts.
package protocol ErasingTransaction: QueueTransaction {
    /// Removes the texts of an alert from its row, and its words from the search index; the next entry
    /// of the log will name it.
    func erase(_ alert: StoredAlert, leaving left: ErasedButtons) throws
}

/// What one transaction of an erasure has done.
package struct ErasedSlice: Sendable {
    /// How many alerts were examined.
    package var seen = 0
    package var erased = 0
    /// How many keep their texts, as evidence, because the log contradicts them.
    package var contradicted = 0
}

extension ErasingTransaction {
    /// How many alerts, and how many bytes of their words, one transaction erases at most.
    package static var sliceLength: Int { 200 }
    private static var sliceSize: Int { 512 << 10 }

    /// Erases the texts of the first of some alerts, and records that in the log.
    package func eraseTexts(
        of ids: ArraySlice<Alert.ID>, by caller: Caller
    ) throws -> ErasedSlice {
        var (slice, size) = (ErasedSlice(), 0)
        var erased: [Alert.ID] = []
        for id in ids.prefix(Self.sliceLength) where size < Self.sliceSize {
            slice.seen += 1
            let found: StoredAlert?
            do { found = try alert(id) } catch AlertError.inconsistent { found = nil }
            guard let found else {
                slice.contradicted += 1
                continue
            }
            // Another purge may have erased it since it was found.
            guard found.record.response != nil, !found.record.isErased,
                caller.hasRight(over: found.record.source.principal)
            else { continue }
            try erase(found, leaving: ErasedButtons(of: found.record.alert))
            erased.append(id)
            size += SearchableText(found.record).byteCount
        }
        guard !erased.isEmpty else { return slice }
        // It concerns the whole queue; its detail names the alerts.
        var entry = AuditDraft(kind: .erased)
        entry.detail = .erased(ErasedAlerts(erased.sorted()))
        try append(entry, by: caller, concernsOthers: false)
        slice.erased = erased.count
        return slice
    }
}
