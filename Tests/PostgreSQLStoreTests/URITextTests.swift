import PostgreSQLStore
import StoreTesting
import TestSupport
import Testing

@Suite("URIs without passwords", .inParallel)
struct URITextTests {
    @Test(
        "No part of a password is shown, and the place stays",
        arguments: [
            ("postgresql:///a?host=/run", "postgresql:///a?host=/run"),
            ("postgresql://u:s3cret@h:5432/db", "postgresql://u@h:5432/db"),
            ("postgresql://h:5432/db@x", "postgresql://h:5432/db@x"),
            ("postgresql://h1:1,h2:2/db", "postgresql://h1:1,h2:2/db"),
            ("postgresql://u:s3@cret@h/db", "postgresql://u@h/db"),
            ("postgresql://u:s3cr?et@/db?queue=q", "postgresql://u@/db?queue=q"),
            ("postgresql://u:s3/cret@h/db", "postgresql://u@h/db"),
            ("postgresql://u@h/db?password=s3cret&queue=q", "postgresql://u@h/db?queue=q"),
            ("postgresql://u@h/db?pass%77ord=s3cret", "postgresql://u@h/db"),
            ("postgresql://u@h/db?sslpassword=s3cret", "postgresql://u@h/db"),
        ])
    func masked(uri: String, shown: String) {
        #expect(uri.withoutPassword == shown && uri.forOthers == shown)
    }

    @Test("Others are not told to act for the accounts of this machine")
    func others() throws {
        let uri = "postgresql://u:s3cret@h/db?queue=q&host_name=web1&notify=off"
        #expect(uri.forOthers == "postgresql://u@h/db?queue=q&notify=off")
        #expect(
            uri.withoutPassword == "postgresql://u@h/db?queue=q&host_name=web1&notify=off")
        #expect(try PostgreSQLLocation(uri).description == uri.forOthers)
    }

    @Test(
        "Others are not told to connect with the role of who tells them",
        arguments: [
            ("postgresql://u:s3@cret@h/db?queue=q", "postgresql://h/db?queue=q"),
            ("postgresql://u@/db?host=h&user=u&host_name=x", "postgresql:///db?host=h"),
            ("postgresql://h/db@x", "postgresql://h/db@x"),
        ])
    func role(uri: String, shown: String) { #expect(uri.forOtherRoles == shown) }

    @Test("A question mark in a password does not begin the parameters")
    func question() throws {
        #expect(try PostgreSQLLocation("postgresql://u:a?b@h/db?queue=q").queue == "q")
    }

    @Test(
        "What can't be the name of a machine is refused",
        arguments: ["", "a%0Ab", "a%1Bb", "a%20b", "a%40b"])
    func hostName(text: String) async {
        let error = await thrown {
            try PostgreSQLLocation("postgresql:///db?host_name=\(text)")
        }
        #expect("\(error as Any)".contains("is not the name of a machine"))
    }
}
