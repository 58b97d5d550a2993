import AlertQueue
import FoundationEssentials
import TextFormats

@testable import AlertCore
@testable import alertq

/// A command line: the first byte of the input chooses the verb, and each line is a word.
@Sendable func options(_ input: inout Input) {
    let verb = input.pick(Verbs.all)
    // The system passes no words that contain a NUL.
    let words = input.remainder().split(separator: 10, omittingEmptySubsequences: false)
        .prefix(40).map { String(decoding: $0.filter { $0 != 0 }, as: UTF8.self) }
    do {
        let arguments = try OptionParser(verb.syntax).parse(Array(words))
        for operand in arguments.operands {
            expect(words.contains { $0.isIdentical(to: operand) }, "an operand was made up")
        }
        for occurrence in arguments.occurrences where occurrence.option.placeholder == nil {
            expect(occurrence.value == nil, "a value was made up")
        }
        guard let asking = try verb.parse(Array(words)) as? any AskingCommand else { return }
        let alert = asking.question.alert
        // A question that parses is valid and can be printed.
        try alert.validate()
        let line = try AlertJSON.line(unasked: alert, source: "fuzz")
        expect(!line.contains("\n"), "an object on several lines")
    } catch {
        let sentence = SafeText.line("\(error)")
        expect(!sentence.isEmpty, "an error without a message")
    }
}

/// Durations and moments.
@Sendable func times(_ input: inout Input) {
    let isDate = input.byte() & 1 == 0
    let now = Timestamp.date(milliseconds: input.integer())
    let text = input.remainingText()
    if isDate {
        if let end = try? DateText.deadline(text, now: now) {
            expect(end.distance(from: now) >= .zero, "\(text) was read as a negative distance")
        }
        guard let date = try? DateText.parse(text, now: now) else { return }
        expect(!Timestamp.text(date).isEmpty, "a moment without a text")
        _ = TimeText.relative(date, to: now)
        _ = LocalTime.text(date, .whole)
        _ = LocalTime.text(date, .brief(now: now))
    } else {
        guard let duration = try? DurationText.parse(text) else { return }
        expect(
            duration > .zero && duration <= Alert.Limit.duration,
            "\(text) was read as \(duration)")
    }
}
