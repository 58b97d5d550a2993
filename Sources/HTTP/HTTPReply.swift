/// A reply to a request.
package struct HTTPReply: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        case stream(HTTPStream)
    }

    /// See RFC 9110 §15.
    package let status: Int
    package var fields: [HTTPField]
    package let content: Content
    /// Called once the client has taken all of it, as far as this machine can know.
    package var onArrival: (@Sendable () -> Void)?

    package init(_ status: Int, _ fields: [HTTPField], _ content: Content) {
        (self.status, self.fields, self.content) = (status, fields, content)
    }

    /// The same reply, after which the connection ends.
    var ending: HTTPReply {
        var reply = self
        reply.fields.append(HTTPField("connection", "close"))
        return reply
    }
}
