import AlertPresenters
import AlertQueue
import FoundationEssentials
import TextFormats

/// Texts from outside that are written to a terminal.
@Sendable func text(_ input: inout Input) {
    let width = Int(input.byte())
    let text = input.remainingText()
    let line = SafeText.line(text)
    let lines = SafeText.lines(text)
    expect(line.unicodeScalars.allSatisfy(isPrintable), "a control in a line")
    expect(
        lines.unicodeScalars.allSatisfy { $0 == "\n" || isPrintable($0) }, "a control in a text")
    expect(SafeText.line(line).isIdentical(to: line), "harmless text was changed")
    expect(SafeText.lines(lines).isIdentical(to: lines), "harmless text was changed")
    let (title, message) = (SafeText.title(text), SafeText.message(text))
    expect(title.unicodeScalars.allSatisfy(isReadable), "a control in a title")
    expect(
        message.unicodeScalars.allSatisfy { $0 == "\n" || isReadable($0) }, "a control in a message"
    )
    expect(SafeText.title(title).isIdentical(to: title), "a harmless title was changed")
    expect(
        SafeText.message(SafeText.revealed(text)).isIdentical(to: lines),
        "a program's text hides something")
    let cut = DisplayWidth.truncated(line, to: width)
    expect(DisplayWidth.of(cut) <= max(width, 0), "wider than \(width) after truncation")
    expect(
        DisplayWidth.of(DisplayWidth.padded(line, to: width)) >= width,
        "narrower than \(width) after padding")
    for part in DisplayWidth.wrapped(lines, to: width) {
        // A character that is wider than the line is alone on it, except for zero-width ones.
        let isAlone = part.count { DisplayWidth.of($0) > 0 } == 1
        expect(DisplayWidth.of(part) <= max(1, width) || isAlone, "too wide after wrapping")
    }
}

/// What titles and messages may have besides: a space without width, and the tags of flags.
private func isReadable(_ scalar: Unicode.Scalar) -> Bool {
    isPrintable(scalar) || scalar == "\u{200B}" || (0xE0030...0xE007F).contains(scalar.value)
}

private func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: return false
    case .format: return scalar == "\u{200C}" || scalar == "\u{200D}"
    default: return true
    }
}
