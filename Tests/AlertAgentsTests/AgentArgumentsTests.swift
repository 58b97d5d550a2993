import AlertQueue
import TestSupport
import Testing

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
}
