import AlertCore
import Foundation
import Linux
import TextFormats

@testable import AlertAgents

/// What a client sends to `alertq mcp`: bytes in pieces of any size, which become lines, messages,
/// and the arguments of tools.
@Sendable func messages(_ input: inout Input) {
    let size = 1 + input.number(below: 200)
    let bytes = input.remainder()
    var lines: [LineSplitter.Line] = []
    var splitter = LineSplitter()
    for start in stride(from: 0, to: bytes.count, by: size) {
        splitter.add(bytes[start..<min(start + size, bytes.count)]) { lines.append($0) }
    }
    splitter.finish { lines.append($0) }
    var whole: [LineSplitter.Line] = []
    splitter.add(bytes[...]) { whole.append($0) }
    splitter.finish { whole.append($0) }
    expect(lines == whole, "lines depend on the pieces in which they come")
    for case .whole(let line) in lines { readMessage(line) }
}

private func readMessage(_ line: [UInt8]) {
    if let value = try? JSONValue(parsing: line) {
        // Foundation reads all that is read here, and a few things more.
        let isJSON =
            (try? JSONSerialization.jsonObject(with: Data(line), options: .fragmentsAllowed))
            != nil
        expect(isJSON || !isFinite(value), "read what is not JSON")
        guard let text = try? value.text() else { return expect(false, "an unprintable value") }
        let again = try? JSONValue(parsing: Array(text.utf8)).text()
        expect(again == text, "a value came back changed")
        let tolerant = try? JSONValue.tolerant(parsing: line)
        expect(tolerant?.isExact == true, "what is exact is tolerated")
        expect((try? tolerant?.value.text()) == text, "tolerance changes a value")
    } else if let value = try? JSONValue.tolerant(parsing: line).value {
        // Only a name that is there twice is more than what others read.
        let text = try? value.text()
        let again = (try? text.map { try JSONValue.tolerant(parsing: Array($0.utf8)) }) ?? nil
        expect(again?.isExact == true, "what was tolerated is written with its faults")
        expect((try? again?.value.text()) == text, "a tolerated value came back changed")
    }
    readHook(line)
    do throws(ClientMessage.Unreadable) {
        let json = try ClientMessage.json(line)
        guard case .array(let elements) = json else { return try readMessage(json) }
        for element in elements { try readMessage(element) }
    } catch {
        readReply(error.error.reply(to: error.id))
    }
}

private func readMessage(_ json: JSONValue) throws(ClientMessage.Unreadable) {
    guard case .request(let request) = try ClientMessage(json) else { return }
    readReply(readRequest(request))
}

private func readReply(_ reply: JSONValue) {
    guard let text = try? reply.text() else { return expect(false, "an unprintable reply") }
    expect(!text.utf8.contains(UInt8(ascii: "\n")), "a reply of two lines")
    expect(
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil, "the reply is not JSON")
}

/// Whether all numbers are in the range of Foundation's.
private func isFinite(_ value: JSONValue) -> Bool {
    switch value {
    case .number(let digits): Double(digits)?.isFinite == true
    case .array(let values): values.allSatisfy(isFinite)
    case .object(let members): members.allSatisfy { isFinite($0.value) }
    default: true
    }
}

/// What a person would read about a request for permission.
private func readHook(_ line: [UInt8]) {
    guard let message = try? HookMessage(line) else { return }
    guard case .request(let request) = message else {
        expect(HookProgress.isEvent(HookMessage.event(in: line)), "the event is not found")
        return
    }
    expect(
        HookMessage.event(in: line) == request.event.rawValue, "the event is not found in the text")
    guard let question = try? HookQuestion(request, of: .claude) else {
        return expect(false, "a request that can't be shown")
    }
    guard question.message.utf8.count < 60_000 else { return }
    if let command = request.command {
        let shown = ":\n" + SafeText.revealed(command)
        let message = Array(question.message.utf8)
        // What else the tool is given follows it.
        expect(
            message.reversed().starts(with: shown.utf8.reversed())
                || message.contains(Array((shown + "\n\nAlso: ").utf8)),
            "a cut command")
        return
    }
    // The tool's name is on one line, so that the first empty line ends what is known of it.
    let parts = question.message.split(separator: "\n\nInput:\n", maxSplits: 1)
    guard parts.count == 2 else { return }
    let shown = try? JSONValue.tolerant(parsing: Array(parts[1].utf8)).value.text()
    let text = try? request.input.text()
    expect(shown != nil && shown == text, "the input that is shown is not the tool's")
}

/// The reply that a request gets before anything is done.
private func readRequest(_ request: ClientMessage.Request) -> JSONValue {
    do throws(ProtocolError) {
        _ = try RequestContext(meta: request.params["_meta"])
        _ = try RequestContext(handshake: request.params)
    } catch {
        return error.reply(to: request.id)
    }
    for tool in AgentTools.all { readArguments(request.params["arguments"] ?? .null, of: tool) }
    return .object([("id", request.id.json)])
}

private func readArguments(_ values: JSONValue, of tool: Tool) {
    guard let arguments = try? AgentArguments(values, of: tool) else { return }
    _ = try? arguments.subject()
    _ = try? arguments.limit()
    guard let alert = try? arguments.question(), let identity = try? arguments.identity() else {
        return
    }
    expect(!alert.title.contains(where: \.isNewline), "a title of two lines")
    // Arguments in their form stay as they are.
    let again = (try? JSONValue(parsing: Array(identity.utf8)))
        .flatMap { try? AgentArguments($0, of: tool) }
    expect((try? again?.identity()) == identity, "the form of an argument has another form")
    expect(again?.ignored.isEmpty == true, "an argument that was ignored is still there")
    expect(!alert.buttons.isEmpty, "a question without buttons")
    expect(identity.contains("\"title\":"), "the key misses the title")
}
