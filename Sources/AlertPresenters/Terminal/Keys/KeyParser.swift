import Glibc

/// Turns the bytes of a terminal into keys, and ignores bytes that it does not know.
///
/// Control sequences and control strings are read to their end and dropped, and pasted text is read
/// to its end and becomes one key, so that no part of them is taken for another. See ECMA-48 §5.4 and
/// xterm's *Control Sequences*. A program that crashed may have left a terminal in a state in which
/// it sends keys as numbers: see *Comprehensive keyboard handling in terminals* (kitty), and xterm's
/// resource `modifyOtherKeys`. Releases of keys, and keys such as Shift alone, are then nothing.
struct KeyParser {
    private enum State: Equatable {
        case ground
        /// After ESC, which is the Escape key if nothing follows soon.
        case escape
        /// After ESC [, with the parameters so far.
        case sequence([UInt8])
        /// After ESC O.
        case shifted
        /// Inside a control string (OSC, DCS, APC, PM, SOS), until BEL or ESC \.
        case string
        /// Inside a bracketed paste, with the number of bytes seen of its end.
        case paste(Int)
        /// Before a number of bytes that belong to the last sequence, and are ignored.
        case skip(Int)
        /// Inside a UTF-8 character.
        case character([UInt8], length: Int, isMeta: Bool)
    }

    private static let pasteEnd = Array("\u{1B}[201~".utf8)
    /// No terminal sends a longer sequence; the rest of one is read as keys again.
    private static let sequenceLimit = 64
    /// What a paste has beyond this is dropped: no value is that long.
    private static let pasteLimit = 2 * LineEditor.limit

    private var state = State.ground
    private var pasted: [UInt8] = []
    private var hasDropped = false
    /// Whether the last sequence was the release of a key, or a key that means nothing alone.
    private var isIdle = false

    /// Whether only a part of a key's bytes has come.
    var isInsideKey: Bool {
        switch state {
        case .escape, .sequence, .shifted, .character: true
        case .ground, .string, .paste, .skip: false
        }
    }

    /// Whether pasted bytes, or bytes that belong to no key, have come since the last call.
    mutating func takeDropped() -> Bool {
        defer { hasDropped = false }
        return hasDropped
    }

    /// How long nothing must come before ``pause()`` is due: a truncated sequence must not swallow
    /// keys forever.
    var patience: Duration? {
        switch state {
        case .ground: nil
        // Nobody types this fast, and a terminal sends a whole sequence at once.
        case .escape: .milliseconds(50)
        case .paste: .seconds(10)
        default: .seconds(1)
        }
    }

    /// Reads bytes, in pieces of any size.
    mutating func keys(from bytes: some Sequence<UInt8>) -> [Key] {
        bytes.compactMap { byte in
            let isPasted = if case .paste = state { true } else { false }
            isIdle = false
            let key = read(byte)
            if isPasted || (key == nil && !isInsideKey && !isIdle) { hasDropped = true }
            return key
        }
    }

    /// Ends a key that nothing has followed: an ESC was the Escape key, anything else is dropped.
    mutating func pause() -> Key? {
        defer { state = .ground }
        return state == .escape ? .escape : nil
    }

    private mutating func read(_ byte: UInt8) -> Key? {
        switch state {
        case .ground: return ground(byte)
        case .escape: return escape(byte)
        case .sequence(let parameters): return sequence(parameters, byte)
        case .shifted:
            state = byte == 0x1B ? .escape : .ground
            return shiftedKey(byte)
        case .string:
            // ESC ends it, whether or not its backslash follows.
            if byte == 0x07 { state = .ground }
            if byte == 0x1B { state = .escape }
            return nil
        case .paste(let seen): return paste(seen, byte)
        case .skip(let count):
            state = count > 1 ? .skip(count - 1) : .ground
            return nil
        case .character(let bytes, let length, let isMeta):
            return character(bytes + [byte], length: length, isMeta: isMeta)
        }
    }

    private mutating func ground(_ byte: UInt8, isMeta: Bool = false) -> Key? {
        state = .ground
        switch byte {
        case 0x1B: state = .escape
        case 0x01: return isMeta ? nil : .home
        case 0x02: return isMeta ? nil : .left
        case 0x05: return isMeta ? nil : .end
        case 0x06: return isMeta ? nil : .right
        case 0x09: return isMeta ? nil : .tab
        case 0x0A, 0x0D: return isMeta ? nil : .enter
        case 0x0B: return isMeta ? nil : .deleteLine
        case 0x0C: return isMeta ? nil : .redraw
        case 0x08, 0x7F: return isMeta ? .eraseWord : .erase
        case 0x15: return isMeta ? nil : .eraseLine
        case 0x17: return isMeta ? nil : .eraseWord
        case 0x04: return isMeta ? nil : .endOfInput
        case UInt8(ascii: "b") where isMeta: return .wordLeft
        case UInt8(ascii: "f") where isMeta: return .wordRight
        case UInt8(ascii: "d") where isMeta: return .deleteWord
        case 0x20..<0x7F: return isMeta ? nil : .character(Character(Unicode.Scalar(byte)))
        case 0xC2...0xDF: state = .character([byte], length: 2, isMeta: isMeta)
        case 0xE0...0xEF: state = .character([byte], length: 3, isMeta: isMeta)
        case 0xF0...0xF4: state = .character([byte], length: 4, isMeta: isMeta)
        default: break
        }
        return nil
    }

    private mutating func escape(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x1B: break  // ESC ESC [ A is Alt-Up on some terminals.
        case UInt8(ascii: "["): state = .sequence([])
        case UInt8(ascii: "O"): state = .shifted
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"),
            UInt8(ascii: "_"):
            state = .string
        default:
            // Alt and a letter are not the letter.
            return ground(byte, isMeta: true)
        }
        return nil
    }

    private mutating func sequence(_ parameters: [UInt8], _ byte: UInt8) -> Key? {
        switch byte {
        case 0x20...0x3F:
            let isTooLong = parameters.count >= Self.sequenceLimit
            state = isTooLong ? .ground : .sequence(parameters + [byte])
            return nil
        case UInt8(ascii: "[") where parameters.isEmpty:
            state = .skip(1)  // A function key of the Linux console: ESC [ [ A.
            return nil
        case UInt8(ascii: "M") where parameters.isEmpty:
            state = .skip(3)  // The mouse, in its oldest encoding.
            return nil
        case UInt8(ascii: "~") where parameters == Array("200".utf8):
            state = .paste(0)
            pasted = []
            return nil
        case 0x40...0x7E:
            state = .ground
            return sequenceKey(parameters, byte)
        default:
            state = byte == 0x1B ? .escape : .ground
            return nil
        }
    }

    private mutating func paste(_ seen: Int, _ byte: UInt8) -> Key? {
        if byte == Self.pasteEnd[seen] {
            guard seen + 1 == Self.pasteEnd.count else {
                state = .paste(seen + 1)
                return nil
            }
            state = .ground
            return .paste(String(decoding: pasted, as: UTF8.self))
        }
        let isEscape = byte == Self.pasteEnd[0]
        if pasted.count < Self.pasteLimit {
            pasted += Self.pasteEnd[..<seen] + (isEscape ? [] : [byte])
        }
        state = .paste(isEscape ? 1 : 0)
        return nil
    }

    private mutating func character(_ bytes: [UInt8], length: Int, isMeta: Bool) -> Key? {
        guard let last = bytes.last, (0x80...0xBF).contains(last) else {
            // The character was cut off; this byte begins something new.
            return bytes.last.flatMap { ground($0) }
        }
        guard bytes.count == length else {
            state = .character(bytes, length: length, isMeta: isMeta)
            return nil
        }
        state = .ground
        guard !isMeta, let text = String(validating: bytes, as: UTF8.self), let first = text.first
        else { return nil }
        return .character(first)
    }

    private mutating func shiftedKey(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "M"): .enter  // The keypad's.
        case UInt8(ascii: "A")...UInt8(ascii: "D"), UInt8(ascii: "H"), UInt8(ascii: "F"):
            sequenceKey([], byte)
        default: nil
        }
    }

    private mutating func sequenceKey(_ parameters: [UInt8], _ final: UInt8) -> Key? {
        // Only digits and separators: `?`, `<` and the like begin reports and private sequences.
        guard parameters.allSatisfy({ (0x30...0x3B).contains($0) }) else { return nil }
        let numbers = String(decoding: parameters, as: UTF8.self)
            .split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) } }
        let modifiers = Modifiers(numbers.count > 1 ? numbers[1].first ?? nil : nil)
        // Where releases are sent, they are the third kind of event.
        if numbers.count > 1, numbers[1].count > 1, numbers[1][1] == 3 {
            isIdle = true
            return nil
        }
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return modifiers.isByWord ? .wordRight : .right
        case UInt8(ascii: "D"): return modifiers.isByWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "Z"): return .backTab
        case UInt8(ascii: "u"): return numberedKey(numbers, modifiers)
        case UInt8(ascii: "~"):
            switch numbers.first?.first {
            case 1, 7: return .home
            case 3: return modifiers.isByWord ? .deleteWord : .delete
            case 4, 8: return .end
            case 5: return .pageUp
            case 6: return .pageDown
            case 27 where numbers.count == 3: return numberedKey([numbers[2]], modifiers)
            default: return nil
            }
        default: return nil
        }
    }
}

// MARK: - Keys as numbers

extension KeyParser {
    /// The modifiers of a key, one more than the sum of a number for each.
    private struct Modifiers {
        private let bits: Int

        init(_ number: Int?) { bits = max(0, (number ?? 1) - 1) }

        var shift: Bool { bits & 1 != 0 }
        var alt: Bool { bits & 2 != 0 }
        var control: Bool { bits & 4 != 0 }
        /// Super, Hyper or Meta.
        var other: Bool { bits & 0x38 != 0 }
        var capsLock: Bool { bits & 64 != 0 }
        var isByWord: Bool { alt || control }
    }

    /// The keys of a keypad from 57399 on, and the keys that other sequences stand for without it.
    private static let keypad: [Key?] =
        "0123456789./*-+".map { .character($0) } + [.enter, .character("="), nil] + [
            .left, .right, .up, .down, .pageUp, .pageDown, .home, .end, nil, .delete,
        ]

    /// A key that is sent as the number of its character, with Shift's character perhaps after it.
    private mutating func numberedKey(_ numbers: [[Int?]], _ modifiers: Modifiers) -> Key? {
        guard let code = numbers.first?.first ?? nil else { return nil }
        switch code {
        case 9 where modifiers.shift: return .backTab
        case 13 where !modifiers.isByWord: return .enter
        case 27: return modifiers.isByWord ? nil : .escape
        case 8, 127: return modifiers.isByWord ? .eraseWord : .erase
        case 57_399..<57_399 + Self.keypad.count: return Self.keypad[code - 57_399]
        case 57_344...63_743:
            // Shift and the like, and keys that mean nothing here.
            isIdle = true
            return nil
        case _ where modifiers.other: return nil
        case 0x40..<0x80 where modifiers.control && !modifiers.alt:
            switch code & 0x1F {
            case 0x03: return .signal(SIGINT)
            case 0x1A: return .signal(SIGTSTP)
            case 0x1C: return .signal(SIGQUIT)
            case 0x1B: return .escape
            case let control: return ground(UInt8(control))
            }
        case 0..<0x80 where modifiers.isByWord:
            return modifiers.control ? nil : ground(UInt8(code), isMeta: true)
        case 9: return .tab
        default: return character(code, numbers, modifiers)
        }
    }

    private func character(
        _ code: Int, _ numbers: [[Int?]], _ modifiers: Modifiers
    ) -> Key? {
        let shifted = numbers[0].count > 1 ? numbers[0][1] : nil
        // The text that the key types, where the terminal says it.
        let typed = numbers.count > 2 ? numbers[2].first ?? nil : nil
        let isUpper = modifiers.shift != modifiers.capsLock
        let value = typed ?? (modifiers.shift ? shifted : nil) ?? code
        guard value >= 0x20, value != 0x7F, let number = UInt32(exactly: value),
            let scalar = Unicode.Scalar(number), scalar.properties.generalCategory != .control
        else { return nil }
        let character = Character(scalar)
        let isCode = typed == nil && value == code
        return .character(isCode && isUpper ? character.uppercased().first ?? character : character)
    }
}
