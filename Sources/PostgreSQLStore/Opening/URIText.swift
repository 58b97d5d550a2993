extension String {
    /// A URI of a database without the password that its user or its query may have; see RFC 3986 §3.
    ///
    /// Where a password contains a character that should have been escaped, more is left out.
    package var withoutPassword: String { without { $0.contains("password") } }

    /// The same for other machines and accounts: also without the name of the machine whose accounts
    /// this process acts for, or else they would act for them.
    package var forOthers: String { without { $0.contains("password") || $0 == "host_name" } }

    /// The same for accounts that connect with roles of their own: also without the user.
    package var forOtherRoles: String {
        var text = without { $0.contains("password") || ["host_name", "user"].contains($0) }
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        text.removeSubrange(start..<text.hostStart)
        return text
    }

    /// Where the hosts of a URI begin, as libpq has it: what is before an “@” and the first “/” is a
    /// user and a password.
    var hostStart: Index {
        let start = firstRange(of: "://")?.upperBound ?? startIndex
        let at = self[start...].prefix { $0 != "/" }.firstIndex(of: "@")
        return at.map { index(after: $0) } ?? start
    }

    /// - Parameter isLeftOut: Whether a parameter of the query is left out, by its name.
    private func without(_ isLeftOut: (_ name: String) -> Bool) -> String {
        var text = self
        if let start = text.firstRange(of: "://")?.upperBound {
            // As libpq does: what is before an “@” and the first “/” is a user and a password.
            let authority = text[start...].prefix { $0 != "/" }
            let isPlain = authority.prefix { $0 != "?" }.split(separator: ":").dropFirst()
                .allSatisfy {
                    $0.allSatisfy { $0.isNumber || $0 == "," || $0 == "]" }
                }
            let place = authority.contains("@") || isPlain ? authority : text[start...]
            if let at = place.lastIndex(of: "@"),
                let colon = text[start..<at].firstIndex(of: ":")
            {
                text.removeSubrange(colon..<at)
            }
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count > 1 ? parts[1].split(separator: "&") : []
        // A name with percent signs may be any.
        let rest = query.filter { parameter in
            let name = parameter.prefix { $0 != "=" }.lowercased()
            return !isLeftOut(name) && !name.contains("%")
        }
        return String(parts.first ?? "")
            + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
    }
}
