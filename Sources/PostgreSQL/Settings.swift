import CPostgreSQL
import Glibc

/// The parameters of a connection, and the hosts to be tried; see
/// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS>.
struct Settings {
    /// They apply unless the connection string has another value: what a string leaves to the
    /// environment or to a service file does not matter.
    ///
    /// A peer that has vanished is noticed after a minute if nothing is sent to it, and after 20
    /// seconds if it does not acknowledge what is sent. A hot standby is passed over.
    static let defaults = [
        "fallback_application_name": "alertq",
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": "20000",
        "target_session_attrs": "read-write",
    ]

    private let parameters: [String: String]

    /// Reads a URI or a list of `keyword=value`.
    ///
    /// - Parameter overriding: Parameters that replace those of the string.
    init(
        _ location: String, overriding: [String: String], of lib: LibPQ
    ) throws(PostgreSQLError) {
        let parsed = try Self.parse(location, of: lib).merging(overriding) { $1 }
        parameters = Self.defaults.merging(parsed) { $1 }
            // Every text crosses in this encoding, whatever the environment says.
            .merging(["client_encoding": "UTF8"]) { $1 }
    }

    /// The parameters whose values are numbers, and not lists of them.
    static let numbers: Set = [
        "connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval",
        "keepalives_count", "tcp_user_timeout",
    ]

    /// The parameters that a URI may have.
    static func keywords(of lib: LibPQ) throws(PostgreSQLError) -> Set<String> {
        // `ssl=true` is what JDBC calls `sslmode=require`.
        Set(try options("", of: lib).keys).union(["ssl"])
    }

    /// The parameters that a URI or a list of `keyword=value` has.
    static func parse(
        _ location: String, of lib: LibPQ
    ) throws(PostgreSQLError) -> [String: String] {
        try options(location, of: lib).compactMapValues(\.self)
    }

    /// All parameters of libpq, with the values that a string gives them.
    private static func options(
        _ location: String, of lib: LibPQ
    ) throws(PostgreSQLError) -> [String: String?] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = lib.pq.PQconninfoParse(location, &message) else {
            defer { lib.pq.PQfreemem(message) }
            // libpq's message may quote a part of the string, which may be the password.
            throw PostgreSQLError(
                .refused("this is not a connection string of PostgreSQL"), "connect")
        }
        defer { lib.pq.PQconninfoFree(options) }
        var parsed: [String: String?] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            let value = option.pointee.val.map { String(cString: $0) }
            parsed.updateValue(value, forKey: String(cString: keyword))
            option += 1
        }
        return parsed
    }

    /// The parameters for each host of a list, in order.
    ///
    /// libpq goes through such a list by itself, but stays with a host that never answers. A list
    /// from the environment or a service file is left to it.
    var hosts: [[String: String]] {
        let lists = ["host", "hostaddr", "port"].compactMap { keyword in
            parameters[keyword].map {
                (keyword, $0.split(separator: ",", omittingEmptySubsequences: false))
            }
        }
        let count = lists.filter { $0.0 != "port" }.map(\.1.count).max() ?? 1
        return (0..<count).map { index in
            parameters.merging(
                lists.map { keyword, values in
                    // One port may stand for all.
                    (
                        keyword,
                        String(
                            values.count == 1
                                ? values[0] : index < values.count ? values[index] : "")
                    )
                }
            ) { $1 }
        }
    }

    /// The parameters for each address of a host, in the order in which they are to be tried.
    ///
    /// libpq looks them up, too, but stays with one that never answers.
    static func addresses(of host: [String: String]) -> [[String: String]] {
        // One that begins so is the path of a socket.
        guard host["hostaddr", default: ""].isEmpty, let name = host["host"], !name.isEmpty,
            !name.hasPrefix("/"), !name.hasPrefix("@")
        else { return [host] }
        let found = lookUp(name)
        return found.isEmpty ? [host] : found.map { host.merging(["hostaddr": $0]) { $1 } }
    }

    /// The addresses of a host as numbers; see getaddrinfo(3).
    private static func lookUp(_ name: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        return sequence(first: first) { $0?.pointee.ai_next }.compactMap { entry in
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard let entry = entry?.pointee,
                getnameinfo(
                    entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0,
                    NI_NUMERICHOST) == 0
            else { return nil }
            return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        }
    }

    /// How long one address may take to answer, if the string says so, in seconds; 0 is no limit.
    var hostTimeout: Duration? {
        parameters["connect_timeout"].flatMap { Int64($0) }.flatMap {
            $0 > 0 ? .seconds($0) : nil
        }
    }
}
