import CPostgreSQL

/// What libpq thinks of a URI before anything is sent.
package enum ConnectionString {
    /// How what has special characters gets into a URI; see RFC 3986 §2.1.
    package static let escaping =
        "special characters of a name, a password or a value are percent-encoded: / is %2F, "
        + "@ is %40, % is %25"

    /// What is wrong with a URI, so that no server is ever reached; `nil` if libpq takes it, or is
    /// not installed.
    ///
    /// Nothing of the URI is repeated but the names of parameters, and the values of those that are
    /// words: a password that is not escaped may be anywhere else, and libpq's own messages quote
    /// it.
    package static func problem(in uri: String) -> String? {
        guard let lib = try? LibPQ.load() else { return nil }
        guard let parameters = try? Settings.parse(uri, of: lib) else {
            return unknownName(in: uri, lib).map {
                "has the parameter \($0), which libpq does not have"
            }
                ?? "is not a URI that libpq can read; \(escaping)"
        }
        let ports = parameters["port"]?.split(separator: ",") ?? []
        guard ports.allSatisfy({ lib.takes(["port": String($0)]) }) else {
            return "has a port that is not a number from 1 to 65535; \(escaping)"
        }
        let others = parameters.filter { !["host", "hostaddr", "port"].contains($0.key) }
        // libpq reads these later or, as a timeout, not at all.
        let numbers = others.filter { Settings.numbers.contains($0.key) }
        guard !lib.takes(others) || numbers.contains(where: { Int32($1) == nil }) else {
            return nil
        }
        guard lib.takes([:]) else {
            return
                "is completed by the environment (PGSERVICE, PGSSLMODE, …), which has a value "
                + "that libpq does not take"
        }
        let wrong = others.keys.sorted().first { name in
            numbers[name].map { Int32($0) == nil } ?? !lib.takes([name: others[name] ?? ""])
        }
        return wrong.map { name in
            let what = "has a value of \(name) that libpq does not take"
            guard words.contains(name), let value = others[name] else { return what }
            return what + ", “\(value)”"
                + (name == "service"
                    ? "; services are defined in ~/.pg_service.conf, or in the file that "
                        + "PGSERVICEFILE names" : "")
        }
            ?? "has parameters that libpq does not take together"
    }

    /// The parameters whose values are words without secrets.
    private static let words = Settings.numbers.union([
        "channel_binding", "gssencmode", "load_balance_hosts", "require_auth", "service",
        "ssl_max_protocol_version", "ssl_min_protocol_version", "sslmode",
        "target_session_attrs",
    ])

    /// The first parameter that libpq doesn't know; `nil` if there is none, or if what looks like
    /// one may be a part of a password.
    private static func unknownName(in uri: String, _ lib: LibPQ) -> String? {
        let query = uri.drop { $0 != "?" }.dropFirst()
        guard !query.contains("@"), !query.contains("password"),
            let known = try? Settings.keywords(of: lib)
        else { return nil }
        let parameters = query.split(separator: "&")
        guard parameters.allSatisfy({ $0.contains("=") }) else { return nil }
        return parameters.map { String($0.prefix { $0 != "=" }) }.first { name in
            !known.contains(name) && name.wholeMatch(of: /[A-Za-z_]+/) != nil
        }
    }
}

extension LibPQ {
    /// Whether these parameters, and the environment, have values that libpq accepts.
    ///
    /// libpq looks at the address of a host last, and gives up without sending anything if it is
    /// none: its message then quotes it, in every language.
    fileprivate func takes(_ parameters: [String: String]) -> Bool {
        let address = "no-address"
        let handle = start(
            ["user": "user", "port": "1"].merging(parameters) { $1 }
                // Without a password, libpq would look for one in files.
                .merging(["host": "host", "hostaddr": address, "password": "password"]) { $1 })
        defer { pq.PQfinish(handle) }
        return pq.PQerrorMessage(handle).map { String(cString: $0).contains(address) } ?? true
    }
}
