import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Key gate", .inParallel)
struct KeyGateTests {
    static let start = ContinuousClock.now

    /// A gate that an alert has just appeared behind, looked at every 100 ms.
    struct Keyboard {
        var gate = KeyGate()
        private(set) var now = start

        init() { gate.setVisible(true, at: start) }

        /// Lets time pass.
        mutating func wait(_ milliseconds: Int) {
            let end = now + .milliseconds(milliseconds)
            while now < end {
                now = min(end, now + .milliseconds(100))
                _ = gate.update(at: now)
            }
        }

        mutating func press(_ keys: [Key]) -> KeyGate.Verdict {
            gate.judge(keys, at: now, isContinued: false)
        }

        mutating func press(_ character: Character) -> KeyGate.Verdict {
            press([.character(character)])
        }
    }

    @Test("It opens after 750 ms of silence, once")
    func opens() {
        var keyboard = Keyboard()
        keyboard.wait(700)
        #expect(keyboard.press("y") == .early)
        keyboard.wait(700)
        #expect(keyboard.press("y") == .early)
        keyboard.wait(800)
        #expect(keyboard.press("y") == .key(.character("y")))
        keyboard.wait(200)
        #expect(keyboard.press("n") == .key(.character("n")))
    }

    @Test("Silence counts only while the alert can be seen, and so do keys")
    func visibility() {
        var keyboard = Keyboard()
        keyboard.gate.setVisible(false, at: Self.start)
        keyboard.wait(2000)
        #expect(!keyboard.gate.isLive)
        keyboard.gate.setVisible(true, at: Self.start + .milliseconds(2000))
        keyboard.wait(700)
        #expect(!keyboard.gate.isLive)
        keyboard.wait(100)
        #expect(keyboard.gate.isLive)
        keyboard.gate.setVisible(false, at: Self.start)
        #expect(keyboard.press("y") == .early)
    }

    @Test("Many keys at once, or one soon after another, are pasted")
    func pasted() {
        var keyboard = Keyboard()
        keyboard.wait(1000)
        #expect(keyboard.press([.character("y"), .enter]) == .burst)
        keyboard.wait(100)
        #expect(keyboard.press("y") == .burst, "the rest of a paste that comes in pieces")
        keyboard.wait(160)
        #expect(keyboard.press("y") == .key(.character("y")))
        keyboard.wait(39)
        #expect(keyboard.press("n") == .burst)
        keyboard.wait(160)
        #expect(keyboard.press("l") == .key(.character("l")))
        keyboard.wait(41)
        #expect(keyboard.press("1") == .key(.character("1")))
    }

    @Test("The same key again, sooner than fingers can, is held down", arguments: [33, 92, 149])
    func held(interval: Int) {
        var keyboard = Keyboard()
        keyboard.wait(1000)
        #expect(keyboard.press("y") == .key(.character("y")))
        for _ in 0..<50 {
            keyboard.wait(interval)
            #expect(keyboard.press("y") == .burst)
        }
        keyboard.wait(151)
        #expect(keyboard.press("y") == .key(.character("y")))
    }

    @Test("Text that is marked as pasted makes the key behind it one of a burst")
    func mixed() {
        var keyboard = Keyboard()
        keyboard.wait(1000)
        #expect(keyboard.gate.judge([.enter], at: keyboard.now, isMixed: true) == .burst)
        #expect(keyboard.gate.judge([], at: keyboard.now, isMixed: true) == .burst)
        keyboard.wait(160)
        #expect(keyboard.press([.enter]) == .key(.enter))
    }

    @Test("An arrow that repeats, or is pressed quickly, holds up no other key")
    func arrows() {
        for interval in [33, 120] {
            var keyboard = Keyboard()
            keyboard.wait(1000)
            #expect(keyboard.press([.down]) == .key(.down))
            for _ in 0..<5 {
                keyboard.wait(interval)
                #expect(keyboard.press([.down]) == .burst)
            }
            keyboard.wait(120)
            #expect(keyboard.press([.enter]) == .key(.enter))
        }
    }

    @Test("A key that comes in pieces is compared with the key before it")
    func pieces() {
        var keyboard = Keyboard()
        keyboard.wait(1000)
        for _ in 0..<3 {
            keyboard.wait(1000)
            // Escape: its byte first, and that it is a key 50 ms later.
            keyboard.gate.typed(at: keyboard.now)
            let verdict = keyboard.gate.judge([.escape], at: keyboard.now, isContinued: true)
            #expect(verdict == .key(.escape))
        }
    }

    @Test("Typing in any rhythm from 2 to 40 keys a second answers none of 10,000 alerts")
    func steadyTyping() {
        var random = TestRandom()
        let text = Array("yes, no, 1 2 3\nq l\t")
        var counted = 0
        for _ in 0..<10_000 {
            let rate = Double.random(in: 2...40, using: &random)
            var keyboard = Keyboard()
            for index in 0..<10 {
                // Nobody is a metronome: an interval is up to 40 % longer or shorter.
                let interval = 1000 / rate * Double.random(in: 0.6...1.4, using: &random)
                keyboard.wait(Int(interval))
                if keyboard.press(text[index % text.count]) != .early { counted += 1 }
            }
        }
        #expect(counted == 0)
    }
}
