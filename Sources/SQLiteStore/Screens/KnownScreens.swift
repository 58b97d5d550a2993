import AlertCore
import FoundationEssentials
import Synchronization

/// The screens last read from the entries of a slot file, so that only changed ones are decoded
/// again.
///
/// If there are many screens, each of them reads all others whenever one changes.
final class KnownScreens: Sendable {
    private let screens = Mutex<[Int: (text: [UInt8], screen: AttachedScreen)]>([:])

    /// The screen that an entry's text describes; `nil` if it is something else.
    func screen(ofEntry index: Int, _ text: ArraySlice<UInt8>) -> AttachedScreen? {
        guard !text.isEmpty else { return nil }
        if let known = screens.withLock({ $0[index] }), known.text.elementsEqual(text) {
            return known.screen
        }
        guard let screen = try? JSONDecoder().decode(AttachedScreen.self, from: Data(text)) else {
            return nil
        }
        screens.withLock { $0[index] = (Array(text), screen) }
        return screen
    }
}
