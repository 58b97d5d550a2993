import AlertQueue
import TestSupport
import Testing
import TextFormats

@testable import AlertAgents

@Suite("Arguments of agents", .inParallel)
struct AgentArgumentsTests {
    private func arguments(_ json: String) throws -> AgentArguments {
        try AgentArguments(JSONValue(parsing: Array(json.utf8)), of: AgentTools.ask)
    }

    @Test("A question has everything that was given, and Yes and No by default")
    func question() throws {
        let alert = try arguments(
            """
            {"title":"Go?","message":"m","key":"k","timeout":"10m","default":"a","priority":"high",
            "info":{"x":"y"},"buttons":[{"title":"A","id":"a"},{"title":"B","role":"cancel"}]}
            """
        ).question()
        #expect(alert.buttons == [Alert.Button("A", id: "a"), .cancel("B")])
        #expect(alert.message == "m" && alert.key == "k" && alert.userInfo == ["x": "y"])
        #expect(alert.deadline == .after(.seconds(600)) && alert.defaultButton == "a")
        #expect(alert.priority == .high)
        let plain = try arguments(#"{"title":"Go?","message":null}"#).question()
        #expect(plain.buttons == [Alert.Button("Yes", id: "yes"), .cancel("No", id: "no")])
        #expect(plain.message == nil && plain.deadline == nil)
    }

    @Test("Every object in a tool's schema names a property, and every list its items")
    func schemas() {
        func check(_ schema: JSONValue, _ place: String) {
            switch schema["type"]?.string {
            case "object": #expect(schema["properties"]?.members?.isEmpty == false, "\(place)")
            case "array": #expect(schema["items"] != nil, "\(place)")
            default: break
            }
            for (name, property) in schema["properties"]?.members ?? [] {
                check(property, "\(place).\(name)")
            }
            if let items = schema["items"] { check(items, place + "[]") }
        }
        for tool in AgentTools.all {
            check(tool.input, tool.name)
            check(tool.output, tool.name + " gives")
        }
    }

    @Test("Two calls are the same if all arguments are, in whatever order they come")
    func identity() throws {
        func identity(_ json: String) throws -> String { try arguments(json).identity() }
        let one = try identity(#"{"title":"a","info":{"x":"1","y":"2"}}"#)
        #expect(
            try identity(#"{"message":null,"info":{"y":"2","x":"1"},"title":"a"}"#) == one)
        let others = [
            #"{"title":"a"}"#, #"{"title":"b","info":{"x":"1","y":"2"}}"#,
            #"{"title":"a","info":{"x":"1"},"message":"2"}"#,
            #"{"title":"a","buttons":[{"title":"a"},{"title":"b"}]}"#,
            #"{"title":"a","buttons":[{"title":"a","id":"b"}]}"#,
        ]
        let all = try others.map(identity) + [one]
        #expect(Set(all).count == all.count)
    }

    @Test(
        "A form that has one meaning is taken, and is the same question",
        arguments: [
            (
                #""buttons":"[{\"title\":\"A\"},{\"title\":\"B\",\"role\":\"cancel\"}]""#,
                #""buttons":[{"title":"A"},{"title":"B","role":"cancel"}]"#
            ),
            (#""buttons":["{\"title\":\"A\",\"id\":null}"]"#, #""buttons":[{"title":"A"}]"#),
            (#""buttons":[{"title":"A","id":1}]"#, #""buttons":[{"title":"A","id":"1"}]"#),
            (#""valid":900"#, #""valid":"900""#), (#""replace":"true""#, #""replace":true"#),
            (#""timeout":600"#, #""timeout":"600""#), (#""timeout":600.0"#, #""timeout":"600""#),
            (#""timeout":1.5"#, #""timeout":"1500ms""#),
            (#""timeout":6e1"#, #""timeout":"60000ms""#),
            (
                #""info":{"a":1,"b":2.50,"c":true,"d":5.0,"e":null}"#,
                #""info":{"a":"1","b":"2.50","c":"true","d":"5"}"#
            ),
            (#""info":{"reference":1}"#, #""info":{"reference":"1"}"#),
            (
                #""schema":"{\"properties\":\"{\\\"n\\\":{\\\"type\\\":\\\"integer\\\"}}\"}""#,
                #""schema":{"properties":{"n":{"type":"integer"}}}"#
            ),
            (#""info":"{\"a\":1}""#, #""info":{"a":"1"}"#), (#""key":42"#, #""key":"42""#),
            (
                #""timeout":60,"default":5.0,"buttons":[{"title":"A","id":5}]"#,
                #""default":"5","buttons":[{"title":"A","id":"5"}],"timeout":"60""#
            ),
            (#""toolCallId":"x","session_id":7"#, #""message":null"#),
        ])
    func forms(form: String, same: String) throws {
        let (one, other) = (
            try arguments(#"{"title":"a",\#(form)}"#), try arguments(#"{"title":"a",\#(same)}"#)
        )
        #expect(try one.identity() == other.identity())
        let (alert, expected) = (try one.question(), try other.question())
        #expect(alert.buttons == expected.buttons && alert.userInfo == expected.userInfo)
        #expect(alert.deadline == expected.deadline && alert.key == expected.key)
    }

    @Test("Information that would be lost under one of two equal names is refused")
    func sameNames() throws {
        let same = try arguments("{\"title\":\"a\",\"info\":{\"\u{E9}\":\"1\",\"e\u{301}\":\"2\"}}")
        #expect(throws: AgentFailure.self) { try same.question() }
    }

    @Test("An id is a whole number, however it is written")
    func ids() throws {
        func subject(_ id: String) throws -> AgentArguments.Subject {
            let json = try JSONValue(parsing: Array("{\"id\":\(id)}".utf8))
            return try AgentArguments(json, of: AgentTools.collect).subject()
        }
        for id in ["5", "5.0", "\"5\""] {
            guard case .id(5) = try subject(id) else {
                Issue.record("\(id)")
                continue
            }
        }
        for id in ["5.5", "\"5.0\"", "\" 5\"", "\"#5\"", "\"\"", "true", "1e400", "[5]"] {
            #expect(throws: AgentFailure.self) { try subject(id) }
        }
    }

    @Test("What a client adds is ignored and named, and what was probably meant is refused")
    func unknown() throws {
        let added = try arguments(#"{"title":"a","toolCallId":"1","sessionId":2,"explanation":""}"#)
        #expect(added.ignored == ["toolCallId", "sessionId", "explanation"])
        let many = (1...100).map { "\"x\($0)y\":1" }.joined(separator: ",")
        #expect(try arguments("{\"title\":\"a\",\(many)}").ignored.count == 20)
        for name in [
            "titel", "Title", "mesage", "timeout_seconds", "timeoutMs", "options", "choices",
            "default_button", "limit", "id", "text", "description", "expires_in", "prio",
        ] {
            let error = #expect(throws: AgentFailure.self) {
                try arguments("{\"title\":\"a\",\"\(name)\":1}")
            }
            #expect(error?.message.contains("no argument “\(name)”") == true)
        }
    }

    @Test(
        "A text of one line has no line break",
        arguments: ["\\n", "\\r\\n", "\\u2028", "\\u2029", "\\u0085", "\\u000b"])
    func lineBreaks(text: String) throws {
        #expect(throws: AgentFailure.self) {
            try arguments("{\"title\":\"a\(text)b\"}").question()
        }
        #expect(throws: AgentFailure.self) {
            try arguments("{\"title\":\"a\",\"buttons\":[{\"title\":\"a\(text)\"}]}").question()
        }
        let message = "{\"title\":\"a\",\"message\":\"a\(text)b\"}"
        #expect(try arguments(message).question().message != nil)
    }
}
