import Linux

/// A field of a request's or a reply's head; see RFC 9110 §5.
package struct HTTPField: Sendable {
    /// In small letters.
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        (self.name, self.value) = (name, value)
    }
}

/// A request, whose head is one that every proxy understands in the same way.
package struct HTTPRequest: Sendable {
    package let method: String
    /// The path and the query, as they came.
    package let target: String
    package let fields: [HTTPField]
    package let connection: HTTPConnection

    /// The value of a field; `nil` if it is absent.
    package func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The values of a field that is a list, which may come in several parts; see RFC 9110 §5.3.
    package func list(_ name: String) -> [String] {
        fields.filter { $0.name == name }.flatMap { field in
            field.value.split(separator: ",").map { part in
                String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
        }
    }
}

/// Why a request is none that is read any further; its connection ends.
///
/// libmicrohttpd is lenient where proxies are not. What two programs understand in two ways, one
/// behind the other, lets a request hide in the body of another one; see RFC 9112 §11.2.
package struct HTTPRefusal: Error, Sendable {
    package let status: Int
    package let reason: String

    init(_ status: Int, _ reason: String) {
        (self.status, self.reason) = (status, reason)
    }
}

extension HTTPRequest {
    /// The most that target and fields may have, in bytes.
    package static let headLimit = 8192
    /// The most that a body may have, in bytes.
    package static let bodyLimit = 1 << 20

    /// Judges a head.
    ///
    /// - Parameter pairs: The names and values of its fields, in their bytes.
    init(
        method: String, target: String?, pairs: [(name: [UInt8], value: [UInt8])],
        connection: HTTPConnection
    ) throws(HTTPRefusal) {
        guard let target, target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw HTTPRefusal(400, "the target has other characters than visible ASCII")
        }
        let size = pairs.reduce(target.utf8.count) { $0 + $1.name.count + $1.value.count + 4 }
        guard size <= Self.headLimit else {
            throw HTTPRefusal(431, "the head has more than \(Self.headLimit) bytes")
        }
        var fields: [HTTPField] = []
        for (name, value) in pairs {
            guard !name.isEmpty, name.allSatisfy(Self.isToken) else {
                throw HTTPRefusal(400, "the name of a field is no token: see RFC 9110 §5.1")
            }
            let known = String(decoding: name, as: UTF8.self).lowercased()
            // libmicrohttpd 0.9.75 joins a line that begins with a space to the name before it.
            let isJoined = Self.framing.contains { known.hasPrefix($0) && known != $0 }
            guard !isJoined else {
                throw HTTPRefusal(400, "“\(known)” is no field: it begins as another one")
            }
            guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw HTTPRefusal(400, "the field “\(known)” has a control character")
            }
            fields.append(HTTPField(known, String(decoding: value, as: UTF8.self)))
        }
        for name in Self.single where fields.count(where: { $0.name == name }) > 1 {
            throw HTTPRefusal(400, "the field “\(name)” comes twice")
        }
        self.init(method: method, target: target, fields: fields, connection: connection)
        guard value("transfer-encoding") == nil else {
            throw HTTPRefusal(400, "“transfer-encoding” is not taken: send the length of the body")
        }
        guard let host = value("host"), !host.isEmpty else {
            throw HTTPRefusal(400, "the field “host” is missing")
        }
        guard let text = value("content-length") else { return }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw HTTPRefusal(400, "“content-length” is no number")
        }
        guard let length = Int(text), length <= Self.bodyLimit else {
            throw HTTPRefusal(413, "the body has more than \(Self.bodyLimit) bytes")
        }
    }

    /// Fields that come once at most.
    private static let single = [
        "content-length", "host", "content-type", "authorization", "origin", "idempotency-key",
        "last-event-id",
    ]
    /// Fields by which a request ends, and is somebody's.
    private static let framing = ["content-length", "transfer-encoding", "host", "authorization"]

    /// Whether a byte may be in the name of a field; see RFC 9110 §5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
