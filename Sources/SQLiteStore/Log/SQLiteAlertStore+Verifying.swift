import AlertCore
import AlertTables
import Glibc
import SQLite

extension SQLiteAlertStore {
    /// Recomputes the chain, and compares alerts and responses with it.
    ///
    /// Ranges of rows are read and hashed on several connections at once; one ``AuditVerifier`` gets
    /// their contents in order. Each range is read in a short transaction, so that a long log does
    /// not prevent the write-ahead log from being reused in the meantime: entries never change, and
    /// an alert is read together with its entries.
    package nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        do {
            return try await verifyRanges(expecting: head, progress)
        } catch {
            throw translated(error, "verify the audit log")
        }
    }

    private nonisolated(nonsending) func verifyRanges(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> AuditReport {
        let total = Int(try await read("verify the audit log") { try $0.lastSequence() })
        // SQLite's own check of the file takes a connection of its own.
        async let damage = read(on: connection()) { db in
            try db.structuralDamage(strayingFrom: "alerts")
        }
        let connections = (0..<Self.processors).map { _ in connection() }
        var verification = QueueVerification(expecting: head)
        verification.nextEntry = try await forEachRange(
            of: EntriesOfLog(), on: connections
        ) { entries in
            verification.add(entries)
            progress(verification.entriesRead / 2, total)
        }
        verification.nextAlert = try await forEachRange(
            of: AlertsWithEntries { [clock] in clock.now() }, on: connections
        ) { alerts in
            verification.add(alerts)
            progress(verification.entriesRead / 2, total)
        }
        let read = verification
        verification = try await self.read(on: connections[0]) { [clock] db in
            var verification = read
            try verification.finish(db, at: clock.now())
            return verification
        }
        return verification.report(damage: try await damage)
    }

    private static var processors: Int {
        max(1, min(4, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    }

    /// A connection that reads the file even if it is no longer that of the log that this process
    /// knows: that is for the report to say.
    private func connection() -> QueueConfined<Reader> {
        QueueConfined(
            Reader(file: DatabaseFile(files: files), known: LogTail(), copy: copy),
            label: "alertq.verify")
    }

    /// Hands out the contents of all ranges in order, while the connections read the next ones;
    /// returns where rows begin that have come since.
    private nonisolated(nonsending) func forEachRange<Rows: VerifiedRows>(
        of rows: Rows, on connections: [QueueConfined<Reader>], _ body: (Rows.Contents) -> Void
    ) async throws -> Int64? {
        var (contents, next) = try await read(rows, from: .min, on: connections)
        while !contents.isEmpty {
            let start = next
            guard !Task.isCancelled else { throw AlertError.cancelled("the verification") }
            guard !isClosed else { throw AlertError.closed }
            async let following = read(rows, from: start, on: connections)
            for contents in contents { body(contents) }
            (contents, next) = try await following
        }
        return next
    }

    /// Reads the next ranges, one on each connection; returns their contents, and where the
    /// following ranges begin.
    private func read<Rows: VerifiedRows>(
        _ rows: Rows, from start: Int64?, on connections: [QueueConfined<Reader>]
    ) async throws -> ([Rows.Contents], next: Int64?) {
        let ranges = try await read(on: connections[0]) { db in
            try rows.next(connections.count, from: start, in: db)
        }
        guard let last = ranges.last else { return ([], next: start) }
        let contents = try await withThrowingTaskGroup(of: (Int, Rows.Contents).self) { group in
            for (number, range) in ranges.enumerated() {
                group.addTask {
                    (
                        number,
                        try await self.read(on: connections[number]) { try rows.read($0, range) }
                    )
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return (
            contents.sorted { $0.key < $1.key }.map(\.value),
            next: Rows.start(after: last)
        )
    }

    /// Reads on a connection, in one transaction.
    private func read<Contents: Sendable>(
        on connection: QueueConfined<Reader>,
        _ body: @escaping @Sendable (Database) throws -> Contents
    ) async throws -> Contents {
        try await connection.run { reader throws(AlertError) in
            try performing("verify the audit log") { try reader.read(body) }
        }
    }
}
