/// Guesses which word a user misspelt.
package enum Suggestion {
    /// The most similar of the candidates, or `nil` if none is similar enough.
    package static func text(for word: String, among candidates: [String]) -> String? {
        // A text as long as this is not a misspelt word, and the table below grows with it.
        guard word.utf8.count >= 2, word.utf8.count <= 40 else { return nil }
        if let start = candidates.first(where: { $0.hasPrefix(word) }) { return start }
        let nearest =
            candidates
            .map { (candidate: $0, distance: distance(from: word, to: $0)) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(1, nearest.candidate.count / 3) else {
            return nil
        }
        return nearest.candidate
    }

    /// “Did you mean”, as the end of a sentence; nothing if nothing is similar enough.
    package static func hint(for word: String, among candidates: [String]) -> String {
        text(for: word, among: candidates).map { "; did you mean “\($0)”?" } ?? ""
    }

    /// How many letters must be inserted, deleted, replaced or exchanged with their neighbour.
    package static func distance(from left: String, to right: String) -> Int {
        let (left, right) = (Array(left.lowercased()), Array(right.lowercased()))
        var rows = [Array(0...right.count)]
        for i in 0..<left.count {
            var row = [i + 1]
            for j in 0..<right.count {
                var best = min(row[j] + 1, rows[i][j + 1] + 1)
                best = min(best, rows[i][j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
