import AlertQueue
import TextFormats

/// The tools of `alertq mcp`, as models read about them.
///
/// None answers: who asks may never be who decides.
enum AgentTools {
    static let all = [ask, collect, notify, withdraw, listMine]

    static let instructions = """
        alertq asks people, and keeps their questions and answers on disk: a question outlives \
        this session, and silence never counts as a yes. Use ask before doing what a person has to \
        allow or decide. If a result has the state “waiting”, nobody has answered yet: call \
        collect with its id until the state is “resolved”. Only the outcome “answered” by “person” \
        is a person's decision. You can't answer your own questions.
        """

    private static let waiting = """
        To wait: the call returns with the answer, or with the state “waiting” if there is none yet.
        Then call collect with the id until the state is “resolved”.
        """

    static let ask = Tool(
        name: "ask", title: "Ask a person",
        description: """
            Ask a person a question, and wait for the answer. Say in the message what you will do \
            if the answer is yes. The same call joins the question while it waits.
            \(waiting)
            """,
        input: JSONSchema.object(
            [
                ("title", JSONSchema.text("The question, in one line of at most 1 KiB")),
                ("message", JSONSchema.text("What a person must know to decide, at most 64 KiB")),
                ("buttons", buttons),
                ("schema", schema),
                (
                    "key",
                    JSONSchema.text(
                        "Names the question permanently: with the same key, it is asked only once, "
                            + "and its answer is found again. Without one, the same call asks anew "
                            + "once its answer has been returned")
                ),
                (
                    "replace",
                    JSONSchema.boolean(
                        "Whether to take the place of the earlier question with the key, if it is "
                            + "another one; if it waits, it is taken back. If it has an answer "
                            + "that was not collected, nothing is asked, and collect returns that")
                ),
                (
                    "timeout",
                    JSONSchema.text(
                        "When the question expires: a duration such as 90s, 10m, 2h or 1d, "
                            + "or a time such as 18:00, which means the next one. Without one, the "
                            + "question does not expire")
                ),
                (
                    "default",
                    JSONSchema.text(
                        "The id of the button that is applied at the timeout; that is never a "
                            + "person's decision")
                ),
                (
                    "valid",
                    JSONSchema.text(
                        "How long after it was given a yes may be used, such as 15m: after that, the "
                            + "call fails as stale, and the question has to be asked again")
                ),
                ("priority", priority), ("info", info),
            ], required: ["title"]),
        output: alert, hints: hints(isIdempotent: true))

    static let collect = Tool(
        name: "collect", title: "Wait for an answer",
        description: """
            Get the answer to a question that you have asked, by its id or its key; it can be got \
            again.
            \(waiting)
            """,
        input: subject, output: alert, hints: hints(isIdempotent: true))

    static let notify = Tool(
        name: "notify", title: "Tell people something",
        description: """
            Show a notice that needs no answer. The call returns at once, when the notice is \
            stored; there is nothing to wait for.
            """,
        input: JSONSchema.object(
            [
                ("title", JSONSchema.text("The notice, in one line of at most 1 KiB")),
                ("message", JSONSchema.text("More about it, at most 64 KiB")),
                (
                    "key",
                    JSONSchema.text("Names the notice: with the same key, it is shown only once")
                ),
                (
                    "timeout",
                    JSONSchema.text("When the notice expires, such as 10m or 18:00")
                ),
                ("priority", priority), ("info", info),
            ], required: ["title"]),
        output: alert, hints: hints(isIdempotent: false))

    static let withdraw = Tool(
        name: "withdraw", title: "Take a question back",
        description: """
            Take back a question or a notice of yours that no longer matters, by its id or its \
            key. If somebody has answered already, the answer stays, and is returned. It does not \
            wait.
            """,
        input: subject, output: alert, hints: hints(isIdempotent: true))

    static let listMine = Tool(
        name: "list_mine", title: "List your questions",
        description: """
            List what you have asked that waits, and the answers that you have not collected yet; \
            collect them by their ids. It does not wait, and collects nothing.
            """,
        input: JSONSchema.object(
            [
                (
                    "limit",
                    .object([
                        ("type", .string("integer")), ("minimum", .integer(1)),
                        ("maximum", .integer(100)),
                        ("description", .string("How many to list of each kind; 20 by default")),
                    ])
                )
            ], required: []),
        output: JSONSchema.object(
            [
                (
                    "alerts",
                    .object([
                        ("type", .string("array")),
                        (
                            "items",
                            JSONSchema.object(
                                [
                                    ("id", JSONSchema.optional("integer", "The alert")),
                                    ("title", JSONSchema.optional("string", "What was asked")),
                                ], required: [], isOpen: true)
                        ),
                    ])
                ),
                ("summary", JSONSchema.text("What was found")),
            ], required: [], isOpen: true),
        hints: .object([("readOnlyHint", .bool(true)), ("openWorldHint", .bool(false))]))

    // MARK: - Parts of schemas

    private static let buttons = JSONValue.object([
        ("type", .string("array")), ("minItems", .integer(1)),
        ("maxItems", .integer(Int64(Alert.Limit.buttonCount))),
        (
            "description",
            .string(
                "The choices, in order; Yes (id yes) and No (id no) by default. Of several, one "
                    + "must mean no: give it the role cancel")
        ),
        (
            "items",
            JSONSchema.object(
                [
                    ("id", JSONSchema.text("What the answer calls it; the title by default")),
                    ("title", JSONSchema.text("The label that a person reads")),
                    (
                        "role",
                        JSONSchema.word(
                            ["cancel", "destructive"],
                            "cancel: it means no; destructive: it destroys something")
                    ),
                ], required: ["title"])
        ),
    ])

    private static let priority = JSONSchema.word(
        Alert.Priority.allCases.map(\.word), "How soon it is shown; normal by default")

    // The older of Gemini's interfaces refuses all tools if an object names none of its properties,
    // so these name one, and say that others are possible.

    private static let info = JSONValue.object([
        ("type", .string("object")),
        ("properties", .object([("reference", JSONSchema.text("Such as a ticket's number"))])),
        ("additionalProperties", .object([("type", .string("string"))])),
        ("description", .string("Strings that come back with the answer, under any names")),
    ])

    private static let schema = JSONSchema.described(
        JSONSchema.object(
            [
                (
                    "properties",
                    JSONSchema.described(
                        JSONSchema.object([("value", value)], required: [], isOpen: true),
                        "The values, under any names, which the answer has, too")
                ),
                (
                    "required",
                    .object([
                        ("type", .string("array")),
                        ("items", .object([("type", .string("string"))])),
                        ("description", .string("The names of those that can't be left out")),
                    ])
                ),
            ], required: ["properties"], isOpen: true),
        "Up to 8 values to ask for beside the button, as a JSON Schema of an object whose properties "
            + "are strings, numbers, integers, booleans, enums or arrays of enums, as in a form of "
            + "elicitation. Never ask for secrets: everything is kept")

    private static let value = JSONSchema.object(
        [
            (
                "type",
                JSONSchema.word(
                    ["string", "integer", "number", "boolean", "array"],
                    "Bounds, enum, default and so on as in JSON Schema")
            ),
            ("title", JSONSchema.text("The label that a person reads")),
            ("description", JSONSchema.text("More about it")),
        ], required: [], isOpen: true)

    private static let subject = JSONSchema.object(
        [
            (
                "id",
                .object([
                    ("type", .string("integer")), ("description", .string("The id of the alert")),
                ])
            ),
            ("key", JSONSchema.text("The key that it was asked with, instead of the id")),
        ], required: [])

    private static func hints(isIdempotent: Bool) -> JSONValue {
        .object([
            ("readOnlyHint", .bool(false)), ("destructiveHint", .bool(false)),
            ("idempotentHint", .bool(isIdempotent)), ("openWorldHint", .bool(true)),
        ])
    }
}

// MARK: - Results

extension AgentTools {
    /// An alert's JSON, of which these members matter most; others are only ever added.
    private static let alert = JSONSchema.object(
        [
            (
                "state",
                JSONSchema.word(
                    ["waiting", "resolved", "queued", "presented", "failed"],
                    "waiting: call collect; resolved: see outcome; queued, presented: a notice "
                        + "that is stored; failed: see reason")
            ),
            ("summary", JSONSchema.text("What that means, in words")),
            ("id", JSONSchema.optional("integer", "The alert")),
            ("key", JSONSchema.optional("string", "Its key")),
            (
                "outcome",
                JSONSchema.optional(
                    "string",
                    "How it ended: answered, or, without an answer, expired, withdrawn, cancelled "
                        + "or dismissed")
            ),
            ("button", JSONSchema.optional("string", "The id of the chosen or applied button")),
            (
                "values",
                .object([("description", .string("What was entered, by the schema's properties"))])
            ),
            (
                "note",
                JSONSchema.optional(
                    "string", "What was said along with the answer, or why it was withdrawn")
            ),
            (
                "superseded_by",
                JSONSchema.optional("integer", "The question that was asked in its place")
            ),
            (
                "by",
                JSONSchema.optional(
                    "string", "Who decided: person, program, policy, asker or system")
            ),
            (
                "reason",
                JSONSchema.optional(
                    "string",
                    "Why it failed: invalid, not_found, conflict, stale, limit, untrusted or "
                        + "unreachable")
            ),
        ], required: ["state", "summary"], isOpen: true)
}

/// JSON schemas, as tools need them; see <https://json-schema.org/draft/2020-12/schema>.
enum JSONSchema {
    /// An object with these properties.
    ///
    /// - Parameter isOpen: Whether it may have others.
    static func object(
        _ properties: [(key: String, value: JSONValue)], required: [String], isOpen: Bool = false
    ) -> JSONValue {
        var members: [(key: String, value: JSONValue)] = [
            ("type", .string("object")), ("properties", .object(properties)),
        ]
        if !required.isEmpty {
            members.append(("required", .array(required.map(JSONValue.string))))
        }
        if !isOpen { members.append(("additionalProperties", .bool(false))) }
        return .object(members)
    }

    /// A schema with a description.
    static func described(_ schema: JSONValue, _ description: String) -> JSONValue {
        .object((schema.members ?? []) + [("description", .string(description))])
    }

    static func text(_ description: String) -> JSONValue {
        .object([("type", .string("string")), ("description", .string(description))])
    }

    static func boolean(_ description: String) -> JSONValue {
        .object([("type", .string("boolean")), ("description", .string(description))])
    }

    /// One of some words.
    static func word(_ words: [String], _ description: String) -> JSONValue {
        .object([
            ("type", .string("string")), ("enum", .array(words.map(JSONValue.string))),
            ("description", .string(description)),
        ])
    }

    /// A value of a type, or null.
    static func optional(_ type: String, _ description: String) -> JSONValue {
        .object([
            ("type", .array([.string(type), .string("null")])),
            ("description", .string(description)),
        ])
    }
}
