import AlertCore
import TestSupport
import Testing

@Suite("Details of entries", .inParallel)
struct EntryDetailTests {
    /// A detail of each kind, with all that it can have.
    private static let details: [(AlertEvent.Kind, Outcome?, String)] = [
        (
            .asked, nil,
            #"{"asked_boot_ms":1,"deadline_boot_ms":20,"deadline_ms":-30,"dismiss_after_ms":4,"#
                + #""key":"0a","key_salt":"ff","leaves":"1b2c","snooze_ms":5,"valid_ms":6,"waits":true}"#
        ),
        (.snoozed, nil, #"{"until_boot_ms":1,"until_ms":2}"#),
        (.claimed, nil, #"{"until_ms":2}"#),
        (.resolved, .answered, #"{"given_boot_ms":12,"values":"ab09"}"#),
        (.resolved, .expired, #"{"expired_boot_ms":0,"nobody_there":true,"unseen":true}"#),
        (.resolved, .cancelled, #"{"simulated":true}"#),
        (.resolved, .withdrawn, #"{"values":"ab09"}"#),
        (.returned, nil, #"{"error":"a\tb\u0001 \"c\\d\", {e}é"}"#),
        (.returned, nil, #"{"reason":"stopped"}"#), (.restored, nil, #"{"contradicted_by":7}"#),
        (.superseded, nil, #"{"by":17}"#), (.collected, nil, #"{"unused":"stale"}"#),
        (.ran, nil, #"{"exit_status":255}"#), (.ran, nil, #"{"started":true}"#),
        (.erased, nil, #"{"alerts":[1,3,5,5]}"#),
        (
            .restored, nil,
            #"{"backup":"none","first_alert":5,"problems":[2,4],"replaced":"7:"#
                + String(repeating: "0a", count: 32) + #""}"#
        ),
        (.moved, nil, #"{"to":"/a]b"}"#), (.clock, nil, #"{"offset_ms":-1,"step_ms":1}"#),
    ]

    @Test("What is read has the same bytes again", arguments: details)
    func readsOneForm(kind: AlertEvent.Kind, outcome: Outcome?, text: String) {
        #expect(EntryDetail(text, of: kind, outcome)?.text == text)
        let bytes = Array(text.utf8)
        var (read, others) = (0, 0)
        for index in bytes.indices {
            for byte in [nil] + Array(#" 0A"\,{}[]:-+.e1"#.utf8).map(Optional.init) {
                for length in [0, 1] {
                    var other = bytes
                    other.replaceSubrange(index..<(index + length), with: byte.map { [$0] } ?? [])
                    let text = String(decoding: other, as: UTF8.self)
                    guard let detail = EntryDetail(text, of: kind, outcome) else { continue }
                    read += 1
                    if detail.text != text { others += 1 }
                }
            }
        }
        #expect(others == 0 && read > 0)
    }

    @Test(
        "Members that are missing, doubled, or in another order are no detail",
        arguments: [
            (.asked, nil, #"{"asked_boot_ms":1,"deadline_boot_ms":20,"leaves":"1b"}"#),
            (.asked, nil, #"{"asked_boot_ms":1,"key":"0a","leaves":"1b"}"#),
            (.asked, nil, #"{"asked_boot_ms":1,"key_salt":"0a","leaves":"1b"}"#),
            (.asked, nil, #"{"asked_boot_ms":1,"asked_boot_ms":1,"leaves":"1b"}"#),
            (.asked, nil, #"{"leaves":"1b","asked_boot_ms":1}"#),
            (.asked, nil, #"{"asked_boot_ms":1,"leaves":"1B"}"#),
            (.asked, nil, #"{"asked_boot_ms":9223372036854775808,"leaves":"1b"}"#),
            (.resolved, .answered, "{}"), (.resolved, .answered, "{"), (.resolved, .answered, ""),
            (.resolved, .expired, #"{"expired_boot_ms":0,"unseen":false}"#),
            (.returned, nil, #"{"error":"a\u0009b"}"#), (.returned, nil, #"{"error":"a\/b"}"#),
            (.ran, nil, #"{"exit_status":99999999999,"signal":5}"#),
            (.erased, nil, #"{"alerts":[-0,5]}"#), (.moved, nil, #"{"at":"/a","to":"/a"}"#),
            (.presented, nil, #"{"to":"/a"}"#),
        ] as [(AlertEvent.Kind, Outcome?, String)])
    func refusesOtherForms(kind: AlertEvent.Kind, outcome: Outcome?, text: String) {
        #expect(EntryDetail(text, of: kind, outcome) == nil)
    }
}
