import CLinux
import Glibc
import Synchronization
import Testing

@testable import AlertPresenters

/// A terminal without a person: the test types, and looks at the screen.
final class PseudoTerminal: Sendable {
    let path: String
    private let master: Mutex<Int32>
    private let slave: Int32
    private let bytes = Mutex<[UInt8]>([])
    private let columns: Int

    init(columns: Int = 80, rows: Int = 24) throws {
        var (master, slave): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        try #require(openpty(&master, &slave, &name, nil, &size) == 0)
        // A child of another test must not keep this terminal open.
        for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        self.master = Mutex(master)
        self.slave = slave
        self.columns = columns
    }

    deinit {
        hangUp()
        close(slave)
    }

    /// The presenter's end of the line.
    var descriptor: Int32 { slave }

    /// The terminal's settings, all of them.
    var settings: [UInt32] {
        var settings = termios()
        tcgetattr(slave, &settings)
        let characters = withUnsafeBytes(of: &settings.c_cc) { $0.map(UInt32.init) }
        return [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
            + characters
    }

    var isCanonical: Bool { settings[3] & UInt32(ICANON) != 0 }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        let count = master.withLock { write($0, bytes, bytes.count) }
        #expect(count == bytes.count)
    }

    /// Types like a person, once an alert takes keys: one key after the other.
    func type(
        _ text: String, after appeared: Flag, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await waitUntilLive(appeared, location)
        try await type(slowly: text)
    }

    /// Types one key after the other, with a pause behind each that no paste has, and no key that
    /// is held down.
    func type(slowly text: String) async throws {
        for key in text.matches(of: /\u{1B}(\[[0-9;]*[A-Z~]|O.)?|[^\u{1B}]/) {
            type(String(key.output.0))
            try await Task.sleep(for: KeyGate.repeatGap + .milliseconds(20))
        }
    }

    /// Waits until an alert takes keys: its last line then tells which.
    func waitUntilLive(
        _ appeared: Flag, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await wait("the alert", location) { appeared.isSet }
        try await wait("the alert to take keys", location, each: .milliseconds(25)) {
            let lines = screen.lines
            let hint = lines.last ?? ""
            return !hint.isEmpty && !hint.hasPrefix("stop") && lines.first != "Too small: make it"
        }
    }

    func resize(columns: Int, rows: Int) {
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        let result = master.withLock { clinux_set_window_size($0, &size) }
        #expect(result == 0)
    }

    /// Closes the terminal's own end, as its window does.
    func hangUp() {
        master.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Everything that has been written so far.
    var output: [UInt8] {
        bytes.withLock { bytes in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = master.withLock { read($0, &buffer, buffer.count) }
                guard count > 0 else { return bytes }
                bytes += buffer[..<count]
            }
        }
    }

    var text: String { String(decoding: output, as: UTF8.self) }
    var screen: ScreenModel { ScreenModel(output, columns: columns) }

    /// Waits until a text has been written.
    func wait(for text: String, _ location: SourceLocation = #_sourceLocation) async throws {
        try await wait("“\(text)” to be written", location) { self.text.contains(text) }
    }

    /// Waits until something holds; the test fails if it takes 10 seconds.
    func wait(
        _ what: String, _ location: SourceLocation = #_sourceLocation,
        each pause: Duration = .milliseconds(2), until isTrue: () -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !isTrue() {
            guard ContinuousClock.now < end else {
                let shown = screen.lines.joined(separator: "\n")
                Issue.record(
                    "waited in vain for \(what); the screen:\n\(shown)",
                    sourceLocation: location)
                throw CancellationError()
            }
            try await Task.sleep(for: pause)
        }
    }
}

/// What a terminal makes of bytes, as far as a presenter may use it.
struct ScreenModel {
    private(set) var lines: [String] {
        get { rows.map { Self.trimmed($0) } }
        set {}
    }
    /// Escape sequences and control characters that are not among those allowed.
    private(set) var additions: [String] = []
    private(set) var isCursorVisible = true
    private(set) var marksPastes = false
    private(set) var wraps = true

    private var rows: [[Character]] = [[]]
    private var row = 0
    private var column = 0
    private let columns: Int

    init(_ bytes: [UInt8], columns: Int) {
        self.columns = columns
        var text = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        while let scalar = text.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n": lineFeed()
            case "\u{8}": column = max(0, column - 1)
            case "\u{1B}": sequence(&text)
            default:
                if scalar.properties.generalCategory == .control {
                    additions.append("U+" + String(scalar.value, radix: 16))
                } else {
                    put(Character(scalar))
                }
            }
        }
    }

    private mutating func lineFeed() {
        row += 1
        if row == rows.count { rows.append([]) }
    }

    private mutating func put(_ character: Character) {
        if column >= columns {
            guard wraps else { return }
            column = 0
            lineFeed()
        }
        while rows[row].count <= column { rows[row].append(" ") }
        rows[row][column] = character
        column += 1
    }

    private mutating func sequence(_ text: inout ArraySlice<Unicode.Scalar>) {
        var body = ""
        while let scalar = text.popFirst() {
            body.unicodeScalars.append(scalar)
            if body.count > 1, (0x40...0x7E).contains(scalar.value) { break }
            if body.first != "[" { break }
        }
        switch body {
        case "[?25l": isCursorVisible = false
        case "[?25h": isCursorVisible = true
        case "[?2004h": marksPastes = true
        case "[?2004l": marksPastes = false
        case "[?7h": wraps = true
        case "[?7l": wraps = false
        case "[2K": rows[row] = []
        case "[J":
            rows.removeSubrange((row + 1)...)
            rows[row] = Array(rows[row].prefix(column))
        default:
            let number = body.dropFirst().dropLast()
            if body.last == "A", let count = Int(number) {
                row = max(0, row - count)
            } else if body.last != "m" || !number.allSatisfy({ $0.isNumber || $0 == ";" }) {
                additions.append("ESC " + body)
            }
        }
    }

    private static func trimmed(_ row: [Character]) -> String {
        var row = row
        while row.last == " " { row.removeLast() }
        return String(row)
    }
}
