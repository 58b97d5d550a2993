import AlertCore
import Foundation
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Alert wording", .inParallel)
struct AlertWordingTests {
    @Test(
        "Durations are written as people say them",
        arguments: [
            (Duration.seconds(300), "5 min"), (.seconds(5400), "1 h 30 min"), (.zero, "0 s"),
            (.seconds(90_061), "1 d 1 h"), (.seconds(-5), "0 s"),
        ])
    func durations(duration: Duration, text: String) {
        #expect(AlertWording.duration(duration) == text)
    }

    @Test(
        "A countdown never shows less than is left, and nothing below zero",
        arguments: [
            (Duration.milliseconds(59_001), "1:00"), (.seconds(59), "0:59"),
            (.milliseconds(1), "0:01"), (.zero, "0:00"), (.seconds(-3), "0:00"),
            (.seconds(3600), "60:00"),
        ])
    func countdowns(duration: Duration, text: String) {
        #expect(AlertWording.countdown(duration) == text)
    }

    @Test("A far deadline is a time of day, a near one counts down")
    func endings() {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let far = AlertWording.ending(
            in: .seconds(7200), at: now + 7200, now: now, defaultTitle: nil)
        #expect(far.wholeMatch(of: /until (\d{4}-\d\d-\d\d )?\d\d:\d\d( \S+)?/) != nil)
        let near = AlertWording.ending(
            in: .seconds(59), at: now + 59, now: now, defaultTitle: "No")
        #expect(near == "0:59 left, then “No”")
    }

    @Test(
        "The lines that stay on the screen fit it, and say completely how the alert ended",
        arguments: [10, 20, 40, 80, 200])
    func lastLines(columns: Int) {
        let ana = Caller(
            Account(uid: 1, name: "ana"), via: "desktop", tty: "/dev/pts/3",
            process: ProcessIdentity(host: "x", pid: 1))
        let response = response(.answered, "Yes", responder: ana)
        for title in ["?", "日本語の質問ですか", String(repeating: "long ", count: 50)] {
            let lines = AlertNote(columns: columns).resolved(
                Alert(title, buttons: ["Yes"]), response: response, choseHere: false)
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= columns }, "\(lines)")
            // A line may be broken at a space, or inside a word that is wider than the line.
            let letters = lines.joined().filter { $0 != " " }
            #expect(letters.hasSuffix(response.summary.filter { $0 != " " }), "\(lines)")
            #expect(columns < 200 || lines.count == 1)
        }
    }

    @Test("“Later” offers no time after the deadline, except for the alert's own snooze time")
    func laterOptions() {
        let now = Date()
        let all = AlertWording.laterOptions(snooze: nil, expiry: nil, now: now)
        #expect(all.map(\.title).prefix(3) == ["5 min", "1 h", "4 h"])
        #expect(all.count == 4 && all[3].title.hasSuffix(" 8:00"))
        let few = AlertWording.laterOptions(snooze: .seconds(60), expiry: .seconds(30), now: now)
        #expect(few == [.init(title: "1 min (expires first)", isTooLong: true)])
    }

    @Test("The times are updated, but not while a person is choosing one")
    func offer() {
        let alert = Alert("?", buttons: ["Yes", .cancel("No")])
        var interaction = AlertInteraction(alert, laterOptions: [.init(title: "5 min")])
        interaction.offer([.init(title: "5 min (expires first)", isTooLong: true)])
        #expect(interaction.press(.character("l"), visible: [0, 1]) == nil)
        #expect(interaction.current.choices.map(\.title) == ["5 min (expires first)"])
        interaction.offer([.init(title: "1 h", end: .after(.seconds(3600)))])
        #expect(interaction.laterOptions.map(\.title) == ["5 min (expires first)"])
    }

    @Test("The source shows the account and host, and its name can't break out of the line")
    func source() {
        let source = AlertRecord.Source(
            name: "a\nb\u{1B}[2J", .account(Account(uid: 7)),
            .process(ProcessIdentity(host: "nas", pid: 1)))
        #expect(AlertWording.source(source, user: nil, here: "nas") == "a␊b␛[2J (uid 7)")
        #expect(AlertWording.source(source, user: "ana", here: "pc") == "a␊b␛[2J (ana@nas)")
    }

    @Test("An account of another machine is never shown as one of this machine")
    func machine() {
        let asker = { (account: Account, host: String) in
            let source = AlertRecord.Source(
                name: "backup", .account(account),
                .process(ProcessIdentity(host: host, pid: 1)))
            return AlertWording.source(source, user: account.named.label, here: "nas")
        }
        #expect(asker(Account(uid: 0, host: "db7"), "nas") == "backup (root@db7)")
        #expect(asker(Account(uid: 0, host: "db7"), "db7") == "backup (root@db7)")
        #expect(asker(Account(uid: 70_007, host: "db\n7"), "pc") == "backup (uid 70007 of db␊7)")
    }

    @Test("Waiting alerts are counted up to 1,000")
    func waiting() {
        #expect(
            [0, 1, 2, 1000].map { AlertWording.waiting(WaitingAlerts(count: $0)) }
                == [nil, "1 more waits", "2 more wait", "1,000+ more wait"])
        #expect(
            AlertWording.waiting(WaitingAlerts(count: 3, critical: 1))
                == "3 more wait, 1 critical")
    }
}
