extension String {
    /// A URI of a database without the password that its user or its query may have; see RFC 3986 §3.
    ///
    /// Where a password contains a character that should have been escaped, more is left out.
    package var withoutPassword: String {
        let parts = split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var place = String(parts.first ?? "")
        if let start = place.firstRange(of: "://")?.upperBound {
            let authority = place[start...].prefix { $0 != "/" }
            let hasPort = authority.split(separator: ":").dropFirst().allSatisfy {
                $0.allSatisfy { $0.isNumber || $0 == "," || $0 == "]" }
            }
            let rest = authority.contains("@") || hasPort ? authority : place[start...]
            if let at = rest.lastIndex(of: "@"),
                let colon = place[start..<at].firstIndex(of: ":")
            {
                place.removeSubrange(colon..<at)
            }
        }
        let query = parts.count > 1 ? parts[1].split(separator: "&") : []
        // A name with percent signs may be any.
        let rest = query.filter { parameter in
            let name = parameter.prefix { $0 != "=" }.lowercased()
            return !name.contains("password") && !name.contains("%")
        }
        return place + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
    }
}
