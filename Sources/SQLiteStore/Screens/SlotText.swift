import AlertCore

/// The text of a screen's entry: a line of JSON with its identity and what it shows, a line with
/// its last sign of life, and a line with the generation that it leads.
struct SlotText {
    var holder: AttachedScreen
    var sign: Heartbeat?
    /// 0 for a screen that does not lead.
    var generation: Int64

    init(of holder: AttachedScreen, leading generation: Int64) {
        self.holder = holder
        sign = .now
        self.generation = generation
    }

    /// Reads the bytes of an entry; `nil` if they are something else.
    init?(_ bytes: ArraySlice<UInt8>, ofEntry index: Int, known: KnownScreens) {
        let lines = bytes.prefix { $0 != 0 }.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let text = lines.first, let holder = known.screen(ofEntry: index, text) else {
            return nil
        }
        self.holder = holder
        // A screen that never gives signs of life is of an earlier version.
        sign = lines.dropFirst().first.flatMap {
            Heartbeat(line: String(decoding: $0, as: UTF8.self))
        }
        generation =
            lines.dropFirst(2).first.flatMap { Int64(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    /// The screen whose entry this is.
    func attached(at index: Int) -> SlotFile.Attached {
        var holder = holder
        holder.silence = sign?.overdue()
        return SlotFile.Attached(
            index: index, holder: holder, generation: generation, silence: sign?.age())
    }

    /// The bytes of an entry; `nil` if the screen's names leave no room.
    func bytes(_ json: inout ScreenJSON) -> [UInt8]? {
        guard var bytes = json.bytes(of: holder) else { return nil }
        let newline = UInt8(ascii: "\n")
        let end = Array("\(generation)\n".utf8)
        bytes.append(newline)
        let hasRoom = bytes.count + Heartbeat.now.line.count + end.count <= SlotFile.entryLength
        // If the names leave no room for a sign, there is none, and the screen counts as present.
        bytes += hasRoom ? sign?.line ?? [newline] : [newline]
        bytes += end
        guard bytes.count <= SlotFile.entryLength else { return nil }
        return bytes + [UInt8](repeating: 0, count: SlotFile.entryLength - bytes.count)
    }
}
