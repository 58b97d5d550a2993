import AlertCore
import AlertTables
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Button scanner", .inParallel)
struct ButtonScannerTests {
    @Test(
        "The scanner reads the same as Foundation's decoder",
        arguments: [
            [Alert.Button("Yes")], [Alert.Button("Ja", id: "yes"), .cancel("Nein", id: "no")],
            [.destructive("Löschen 🎉"), Alert.Button("a,b:{}[]", id: "x")],
        ])
    func same(buttons: [Alert.Button]) throws {
        let scanned = try #require(ButtonScanner.buttons(StoredJSON.encode(buttons)))
        #expect(scanned.map(\.id) == buttons.map(\.id))
        #expect(scanned.map(\.title) == buttons.map(\.title))
        #expect(scanned.map(\.role) == buttons.map(\.role))
    }

    @Test(
        "All but the plainest texts are left to Foundation",
        arguments: [
            "", "[", "[]", "null", #"[{"id":"a\"b","title":"x"}]"#, #"[{"id":"a","title":"x"}"#,
            #"[{"id":"a","title":"x"}] "#, #"[{"title":"x","id":"a"}]"#, #"[{"id":"a"}]"#,
            #"[{"id":"a","role":"other","title":"x"}]"#, #"[{"id":"a","title":"x"},]"#,
            "[{\"id\":\"a\nb\",\"title\":\"x\"}]", #"[{"id":"a","title":null}]"#,
        ])
    func other(text: String) {
        #expect(ButtonScanner.buttons(text) == nil)
    }

    @Test("An escaped label is read back unchanged")
    func escaped() throws {
        let title = "say \"yes\" \\ \n"
        let stored = StoredJSON.encode([Alert.Button(title)])
        #expect(try StoredJSON.buttons(stored).map(\.title) == [title])
    }
}
