/// The direction in which letters are written.
enum WritingDirection {
    /// Whether a text has letters that are written from right to left.
    ///
    /// The ranges are those whose default is R or AL in Unicode's `DerivedBidiClass.txt`; see UAX
    /// #9.
    static func isRightToLeft(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x0590...0x08FF, 0xFB1D...0xFDCF, 0xFDF0...0xFDFF, 0xFE70...0xFEFF,
                0x10800...0x10FFF, 0x1E800...0x1EFFF:
                true
            default: false
            }
        }
    }
}
