import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// A reverse proxy on a port of this machine, in front of a service's port.
final class Proxy: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case nginx, haproxy
    }

    let port: UInt16
    private let process: Child
    private let directory: TemporaryDirectory

    /// Starts one that takes no questions.
    convenience init(_ kind: Kind, to service: UInt16, token: String) async throws {
        try await self.init(kind) { port, directory in
            switch kind {
            case .nginx:
                Self.nginx(
                    directory,
                    """
                    listen 127.0.0.1:\(port);
                    location = /v1/alerts {
                        limit_except GET { deny all; }
                        proxy_pass http://127.0.0.1:\(service);
                        proxy_set_header Authorization "Bearer \(token)";
                    }
                    location /v1/ {
                        proxy_pass http://127.0.0.1:\(service);
                        proxy_http_version 1.1;
                        proxy_set_header Connection "";
                        proxy_set_header Authorization "Bearer \(token)";
                    }
                    """)
            case .haproxy: Self.haproxy(port, service, token)
            }
        }
    }

    /// Starts one with https, below the path `/alerts/`; the certificate is in ``certificate``.
    convenience init(securing service: UInt16) async throws {
        try await self.init(.nginx) { port, directory in
            let maker = try Child(
                "openssl",
                ["req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=localhost"]
                    + ["-addext", "subjectAltName=DNS:localhost"]
                    + ["-keyout", directory + "/key", "-out", directory + "/certificate"])
            let made = await maker.finish()
            guard made.code == 0 else { throw TestingError("openssl: \(made)") }
            return Self.nginx(
                directory,
                """
                listen 127.0.0.1:\(port) ssl;
                ssl_certificate \(directory)/certificate;
                ssl_certificate_key \(directory)/key;
                location /alerts/ {
                    proxy_pass http://127.0.0.1:\(service)/;
                    proxy_http_version 1.1;
                    proxy_set_header Connection "";
                }
                """)
        }
    }

    /// Starts it, and waits until it takes connections.
    private init(
        _ kind: Kind, _ configuration: (_ port: UInt16, _ directory: String) async throws -> String
    ) async throws {
        directory = try TemporaryDirectory()
        port = try LocalSocket.listening().port
        let file = directory.path + "/" + kind.rawValue + ".conf"
        try Data(try await configuration(port, directory.path).utf8).write(to: URL(filePath: file))
        process = try Child(
            "/usr/sbin/\(kind)",
            kind == .nginx ? ["-c", file, "-e", directory.path + "/error"] : ["-f", file, "-db"])
        let port = port
        guard await eventually({ (try? LocalSocket.connecting(port: port)) != nil }) else {
            throw TestingError("\(kind) does not start: \(process.errors.text)")
        }
    }

    deinit { process.kill(SIGKILL) }

    var certificate: String { directory.path + "/certificate" }

    private static func nginx(_ directory: String, _ server: String) -> String {
        """
        daemon off; master_process off; pid \(directory)/pid; events {}
        http {
            access_log off; client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
            fastcgi_temp_path \(directory)/f; uwsgi_temp_path \(directory)/u; scgi_temp_path \(directory)/s;
            server { \(server) }
        }

        """
    }

    private static func haproxy(_ port: UInt16, _ service: UInt16, _ token: String) -> String {
        """
        defaults
            mode http
            timeout connect 5s
            timeout client 90s
            timeout server 90s
        frontend pages
            bind 127.0.0.1:\(port)
            default_backend alertq
        backend alertq
            http-request deny if METH_POST { path /v1/alerts }
            http-request set-header Host 127.0.0.1
            http-request set-header Authorization "Bearer \(token)"
            server alertq 127.0.0.1:\(service)

        """
    }
}
