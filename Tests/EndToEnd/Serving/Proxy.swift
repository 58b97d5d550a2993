import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// A reverse proxy on a port of this machine, in front of a service's port, which asks nothing.
final class Proxy: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case nginx, haproxy
    }

    let port: UInt16
    private let process: Child
    private let directory: TemporaryDirectory

    /// Starts it, and waits until it takes connections.
    init(_ kind: Kind, to service: UInt16, token: String) async throws {
        directory = try TemporaryDirectory()
        port = try LocalSocket.listening().port
        let file = directory.path + "/" + kind.rawValue + ".conf"
        let text =
            switch kind {
            case .nginx: Self.nginx(port, service, token, directory.path)
            case .haproxy: Self.haproxy(port, service, token)
            }
        try Data(text.utf8).write(to: URL(filePath: file))
        process = try Child(
            "/usr/sbin/\(kind)",
            kind == .nginx ? ["-c", file, "-e", directory.path + "/error"] : ["-f", file, "-db"])
        let port = port
        guard await eventually({ (try? LocalSocket.connecting(port: port)) != nil }) else {
            throw TestingError("\(kind) does not start: \(process.errors.text)")
        }
    }

    deinit { process.kill(SIGKILL) }

    private static func nginx(
        _ port: UInt16, _ service: UInt16, _ token: String, _ directory: String
    ) -> String {
        """
        daemon off; master_process off; pid \(directory)/pid; events {}
        http {
            access_log off; client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
            fastcgi_temp_path \(directory)/f; uwsgi_temp_path \(directory)/u; scgi_temp_path \(directory)/s;
            server {
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
            }
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
