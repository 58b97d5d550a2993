import AlertCore
import SQLite

/// The alerts whose texts were erased according to one entry of the audit log.
///
/// As text, in the entry's detail: `alerts 1-180, 183; left HASH; salt SALT; keys 17 HASH, 183
/// HASH`. `left` is the hash of what is left of these alerts. For alerts that were asked before
/// schema 5, `keys` has the hash of what is compared when an alert's key is used again; later ones
/// have it in the entry of their ask. Versions before schema 5 wrote neither.
struct ErasedAlerts: Sendable {
    private(set) var ranges: [ClosedRange<Int64>] = []
    /// The result of `leftHash(of:)`.
    var left: [UInt8]?
    /// The salt of ``keys``.
    var salt: [UInt8]?
    /// The hashes of ``KeyDigest``s.
    var keys: [Alert.ID: [UInt8]] = [:]

    private static let prefix = "alerts "

    /// - Parameter ids: In ascending order.
    init(_ ids: [Alert.ID]) {
        for id in ids {
            if let last = ranges.last, last.upperBound == id - 1 {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                ranges.append(id...id)
            }
        }
    }

    /// Reads an entry's detail; `nil` if it is not an erasure's.
    init?(detail: String?) {
        guard let detail, detail.hasPrefix(Self.prefix) else { return nil }
        let parts = detail.split(separator: ";", omittingEmptySubsequences: false)
        guard readRanges(parts[0].dropFirst(Self.prefix.count)) else { return nil }
        for part in parts.dropFirst() {
            let words = part.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { return nil }
            switch words[0] {
            case "left": left = Hex.bytes(words[1])
            case "salt": salt = Hex.bytes(words[1])
            case "keys": guard readKeys(words[1]) else { return nil }
            default: return nil
            }
        }
    }

    func contains(_ id: Alert.ID) -> Bool { ranges.contains { $0.contains(id) } }

    var detail: String {
        var text =
            Self.prefix
            + ranges.map { range in
                range.count == 1
                    ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
            }.joined(separator: ", ")
        if let left { text += "; left \(Hex.text(left))" }
        if let salt, !keys.isEmpty {
            let hashes = keys.sorted { $0.key < $1.key }.map { "\($0.key) \(Hex.text($0.value))" }
            text += "; salt \(Hex.text(salt)); keys " + hashes.joined(separator: ", ")
        }
        return text
    }

    private mutating func readRanges(_ text: Substring) -> Bool {
        var last: Int64 = 0
        for part in text.split(separator: ",") {
            let ends = part.drop { $0 == " " }.split(separator: "-").map { Int64($0) }
            guard let first = ends.first ?? nil, let end = ends.last ?? nil, ends.count <= 2,
                first > last, end >= first
            else { return false }
            ranges.append(first...end)
            last = end
        }
        return !ranges.isEmpty
    }

    private mutating func readKeys(_ text: Substring) -> Bool {
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ")
            guard words.count == 2, let id = Int64(words[0]), let hash = Hex.bytes(words[1]) else {
                return false
            }
            keys[id] = hash
        }
        return !keys.isEmpty
    }
}

extension Database {
    /// The columns that are hashed, in this order.
    private enum LeftColumn: Int, ColumnList {
        case id, style, priority, key, handler, presenters, buttons, defaultButton, button

        var sql: String {
            switch self {
            case .id, .key, .handler: "alerts.\(snakeCased)"
            default: snakeCased
            }
        }
    }

    /// The hash of what is left of erased alerts.
    ///
    /// It is the SHA-256 of these netstrings: `alertq-left-1`, then for each alert, in ascending
    /// order of ids, the columns `id`, `style`, `priority`, `key`, `handler`, `presenters`,
    /// `buttons` and `default_button`, and its response's `button`.
    func leftHash(of alerts: ErasedAlerts) throws -> [UInt8] {
        let input = HashInput()
        input.begin(Array("alertq-left-1".utf8))
        for range in alerts.ranges {
            try forEach(
                """
                SELECT \(LeftColumn.list)
                FROM alerts NOT INDEXED JOIN responses INDEXED BY sqlite_autoindex_responses_1
                    ON alert_id = alerts.id
                WHERE alerts.id BETWEEN ? AND ? ORDER BY alerts.id
                """, [.integer(range.lowerBound), .integer(range.upperBound)]
            ) { row in
                for column in LeftColumn.allCases {
                    let value = row.raw(column)
                    switch value.kind {
                    case .null: input.absent()
                    case .integer: input.number(value.integer)
                    case .real, .text, .blob: input.text(value.bytes)
                    }
                }
            }
        }
        return input.hash
    }
}
