import CMicroHTTPD
import Glibc
import Linux
import Synchronization

/// Carries out what clients of an ``HTTPServer`` ask for.
package protocol HTTPHandler: Sendable {
    /// The reply to a request that is refused for its head, before its body is read; `nil` if it is
    /// not. It is called on the thread of all connections, and must not wait.
    func refusal(of request: HTTPRequest) -> HTTPReply?
    /// The reply to a request that is none.
    func reply(to refusal: HTTPRefusal) -> HTTPReply
    /// The reply to a request; its task is cancelled when the server ends.
    ///
    /// - Parameter takeBody: Returns the body once: it isn't kept while the request waits.
    func reply(to request: HTTPRequest, _ takeBody: @Sendable () -> [UInt8]) async -> HTTPReply
}

/// Serves HTTP/1.1 on a socket, by libmicrohttpd.
package final class HTTPServer: Sendable {
    /// How many clients may be connected at once.
    private static let connectionLimit: UInt32 = 4096
    /// How many of them may have no request: a new one takes the place of the one that has been
    /// silent for longest.
    private static let silentLimit = 1024
    /// The library's memory for a connection, in bytes: a head, and that of its reply.
    private static let connectionMemory = HTTPRequest.headLimit + 4096
    /// How long a client may leave a reply unread, in seconds.
    private static let writeTime: UInt32 = 60

    private struct State {
        var suspended: Set<ConnectionPointer> = []
        var connections: [ObjectIdentifier: HTTPConnection] = [:]
        /// Whether no new request is carried out.
        var isEnding = false
        /// Whether no connection is left alone any longer.
        var isStopping = false
    }

    private struct Daemon: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    let handler: any HTTPHandler
    /// The reply to who comes too late.
    let stopped: HTTPReply
    /// The library's own descriptor of the listener.
    private let listener: Int32
    private let library: MicroHTTPD
    private let state = Mutex(State())
    private let daemon = Mutex(Daemon?.none)

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - listener: A socket that listens, and doesn't block.
    ///   - stopped: The reply to who comes while it ends.
    /// - Throws: ``MissingLibrary``, or ``LinuxError`` if there is no memory or no thread.
    package init(
        on listener: Descriptor, stopped: HTTPReply, _ handler: any HTTPHandler
    ) throws {
        self.handler = handler
        self.stopped = stopped.ending
        library = try MicroHTTPD.load()
        // Where it can't start, it closes what it was given.
        self.listener = fcntl(listener.raw, F_DUPFD_CLOEXEC, 0)
        guard self.listener >= 0 else { throw LinuxError.current("copy a descriptor") }
        let settings = cmicrohttpd_settings(
            listener: self.listener, connection_limit: Self.connectionLimit,
            connection_memory: Self.connectionMemory, connection_timeout: Self.writeTime,
            context: Unmanaged.passUnretained(self).toOpaque(),
            access: { HTTPServer.proceed($0, $1, $3, $5, $6, $7) },
            uri_log: { HTTPServer.begin($0, $1, $2) },
            // Paths are decoded by who knows their parts.
            unescape: { _, _, text in text.map { strlen($0) } ?? 0 },
            completed: { context, connection, _, code in
                HTTPServer.end(context, connection, hasArrived: code == cmicrohttpd_completed_ok)
            },
            connected: { HTTPServer.connected($0, $1, $2, $3) })
        let daemon = withUnsafePointer(to: settings) { settings in
            withUnsafePointer(to: library.mhd) { cmicrohttpd_start($0, settings) }
        }
        guard let daemon else { throw LinuxError.current("start a thread for HTTP") }
        self.daemon.withLock { $0 = Daemon(pointer: daemon) }
        // It ends with the server.
        Task { [weak self] in
            while let self, !self.state.withLock({ $0.isStopping }) {
                for connection in self.connections { connection.look() }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private var connections: [HTTPConnection] {
        state.withLock { $0.connections.values.map { $0 } }
    }

    /// Whether its thread is not stuck: it replies to a connection of our own within five seconds.
    package func isTurning() async -> Bool {
        // Where no connection can be made, nothing can be told.
        guard let (own, other) = try? UnixSocket.pair(), add(other) else { return true }
        UnixSocket.setTimeLimit(5, of: own)
        guard own.write("GET / HTTP/1.0\r\n\r\n".utf8) else { return true }
        return await withCheckedContinuation { found in
            DedicatedThread.start { found.resume(returning: own.read()?.isEmpty == false) }
        }
    }

    private func add(_ socket: Descriptor) -> Bool {
        daemon.withLock { daemon in
            // The library closes what it is given.
            let raw = fcntl(socket.raw, F_DUPFD_CLOEXEC, 0)
            guard let daemon, raw >= 0 else { return false }
            var address = sockaddr()
            address.sa_family = sa_family_t(AF_UNIX)
            let length = socklen_t(MemoryLayout.size(ofValue: address))
            return library.mhd.MHD_add_connection(daemon.pointer, raw, &address, length)
                == MicroHTTPD.yes
        }
    }

    /// Takes no more connections, and returns once the requests that have come have their replies, or
    /// have been carried out for as long as `patience`.
    package func stop(within patience: Duration) async {
        guard let daemon = daemon.withLock({ $0.take() }) else { return }
        // It takes no more connections, and leaves the listener open.
        _ = library.mhd.MHD_quiesce_daemon(daemon.pointer)
        state.withLock { $0.isEnding = true }
        let deadline = ContinuousClock.now + patience
        while connections.contains(where: \.isBusy), .now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
        state.withLock { state in
            state.isStopping = true
            for connection in state.suspended { library.mhd.MHD_resume_connection(connection.raw) }
            state.suspended = []
        }
        // What came too late is told so.
        if connections.contains(where: \.isBusy) { try? await Task.sleep(for: .milliseconds(100)) }
        // It waits for the library's thread.
        await withCheckedContinuation { end in
            DedicatedThread.start { [library, listener] in
                library.mhd.MHD_stop_daemon(daemon.pointer)
                close(listener)
                end.resume()
            }
        }
    }

    // MARK: - What the exchanges do

    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// The client of a connection.
    func connection(of pointer: ConnectionPointer) -> HTTPConnection? {
        withUnsafePointer(to: library.mhd) { cmicrohttpd_stored($0, pointer.raw) }
            .map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// The fields of a request's head.
    func pairs(of connection: ConnectionPointer) -> [(name: [UInt8], value: [UInt8])] {
        var pairs: [(name: [UInt8], value: [UInt8])] = []
        withUnsafeMutablePointer(to: &pairs) { pairs in
            _ = library.mhd.MHD_get_connection_values_n(
                connection.raw, UInt32(cmicrohttpd_header_kind),
                { pairs, _, name, nameSize, value, valueSize in
                    let pairs = pairs?.assumingMemoryBound(
                        to: [(name: [UInt8], value: [UInt8])].self)
                    pairs?.pointee.append(
                        (
                            Array(UnsafeRawBufferPointer(start: name, count: nameSize)),
                            Array(UnsafeRawBufferPointer(start: value, count: valueSize))
                        ))
                    return MicroHTTPD.yes
                }, pairs)
        }
        return pairs
    }

    /// Leaves a connection alone; returns `false` if the server ends, which would wait for it.
    func suspend(_ connection: ConnectionPointer) -> Bool {
        state.withLock { state in
            guard !state.isStopping else { return false }
            state.suspended.insert(connection)
            library.mhd.MHD_suspend_connection(connection.raw)
            return true
        }
    }

    func resume(_ connection: ConnectionPointer) {
        state.withLock { state in
            guard state.suspended.remove(connection) != nil else { return }
            library.mhd.MHD_resume_connection(connection.raw)
        }
    }

    /// Sends a reply; returns whether the connection goes on.
    func send(
        _ reply: HTTPReply, over connection: ConnectionPointer, for exchange: HTTPExchange
    ) -> Bool {
        let response: OpaquePointer?
        switch reply.content {
        case .bytes(var bytes):
            response = bytes.withUnsafeMutableBytes { bytes in
                library.mhd.MHD_create_response_from_buffer(
                    bytes.count, bytes.baseAddress, UInt32(cmicrohttpd_must_copy))
            }
        case .stream:
            response = library.mhd.MHD_create_response_from_callback(
                .max, 1024,
                { exchange, _, buffer, size in
                    guard let exchange, let buffer else { return -1 }
                    let target = UnsafeMutableRawBufferPointer(start: buffer, count: size)
                    return Unmanaged<HTTPExchange>.fromOpaque(exchange).takeUnretainedValue()
                        .read(into: target) ?? Int(cmicrohttpd_end_of_stream)
                }, Unmanaged.passRetained(exchange).toOpaque(),
                { exchange in
                    exchange.map { Unmanaged<HTTPExchange>.fromOpaque($0).release() }
                })
        }
        guard let response else { return false }
        defer { library.mhd.MHD_destroy_response(response) }
        for field in (isEnding ? reply.ending : reply).fields {
            _ = library.mhd.MHD_add_response_header(response, field.name, field.value)
        }
        return library.mhd.MHD_queue_response(connection.raw, UInt32(reply.status), response)
            == MicroHTTPD.yes
    }

    // MARK: - What the library calls

    private static func server(_ context: UnsafeMutableRawPointer?) -> HTTPServer? {
        context.map { Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The first line of a request has come; returns what the library gives back with each call for
    /// it. The connection keeps the exchange, since the library forgets to say of some that they end.
    private static func begin(
        _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?,
        _ connection: OpaquePointer?
    ) -> UnsafeMutableRawPointer? {
        guard let server = server(context), let connection,
            let client = server.connection(of: ConnectionPointer(raw: connection))
        else { return nil }
        client.takeExchange()?.end(hasArrived: false)
        let exchange = HTTPExchange(target.flatMap { String(validatingCString: $0) }, of: server)
        client.begin(exchange)
        return Unmanaged.passUnretained(exchange).toOpaque()
    }

    private static func proceed(
        _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
        _ method: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
        _ size: UnsafeMutablePointer<Int>?,
        _ stored: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> cmicrohttpd_result {
        guard let connection, let method, let size, let kept = stored?.pointee else {
            return MicroHTTPD.no
        }
        let bytes = UnsafeRawBufferPointer(start: data, count: size.pointee)
        size.pointee = 0
        let exchange = Unmanaged<HTTPExchange>.fromOpaque(kept).takeUnretainedValue()
        let goesOn = exchange.proceed(
            ConnectionPointer(raw: connection), method: String(cString: method), bytes)
        return goesOn ? MicroHTTPD.yes : MicroHTTPD.no
    }

    private static func end(
        _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, hasArrived: Bool
    ) {
        guard let server = server(context), let connection else { return }
        server.connection(of: ConnectionPointer(raw: connection))?.takeExchange()?
            .end(hasArrived: hasArrived)
    }

    private static func connected(
        _ context: UnsafeMutableRawPointer?, _ pointer: OpaquePointer?,
        _ stored: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: UInt32
    ) {
        guard let server = server(context), let pointer, let stored else { return }
        guard code == cmicrohttpd_connection_started else {
            guard let kept = stored.pointee else { return }
            let connection = Unmanaged<HTTPConnection>.fromOpaque(kept).takeRetainedValue()
            connection.takeExchange()?.end(hasArrived: false)
            connection.isOver()
            server.state.withLock { $0.connections[ObjectIdentifier(connection)] = nil }
            return
        }
        let raw = withUnsafePointer(to: server.library.mhd) { cmicrohttpd_descriptor($0, pointer) }
        let connection = HTTPConnection(raw)
        stored.pointee = Unmanaged.passRetained(connection).toOpaque()
        let silent = server.state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = connection
            guard state.connections.count > silentLimit else { return HTTPConnection?.none }
            let silent = state.connections.values.compactMap { connection in
                connection.silentSince.map { (connection, $0) }
            }
            return silent.count > silentLimit ? silent.min { $0.1 < $1.1 }?.0 : nil
        }
        silent?.end()
    }
}
