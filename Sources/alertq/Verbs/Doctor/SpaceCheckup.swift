import AlertQueue

/// The checks of `alertq doctor` that look at the space that a queue uses and has left.
struct SpaceCheckup: Sendable {
    let space: SpaceReport

    func findings() -> [Finding] { [disk, log] }

    private var disk: Finding {
        let free = space.free.map { "; \(Self.mebibytes($0)) are free" } ?? ""
        guard !space.isFull else {
            let full = Self.mebibytes(space.fullReserve)
            return Finding(
                check: "disk",
                problem: "\(Self.mebibytes(space.reserve)) are left of the \(full) that are "
                    + "set aside for answers on a full disk\(free)",
                advice: "make room on the disk: new alerts are refused, and so are answers once "
                    + "that is used up",
                code: .inputOutput)
        }
        return Finding(check: "disk", detail: "there is room to answer on a full disk" + free)
    }

    private var log: Finding {
        let size = "the write-ahead log has \(Self.mebibytes(space.log))"
        guard space.isLogLong else { return Finding(check: "log", detail: size) }
        let names = space.readers.map { "process \($0.name)" }
        guard !names.isEmpty else {
            return Finding(
                check: "log", detail: size,
                advice: "no process keeps it that long now; the next alert empties it")
        }
        return Finding(
            check: "log",
            problem: "\(size) and can't be emptied: \(names.joined(separator: ", ")) keeps reading "
                + "the database",
            advice: "end its transaction, or the process: new alerts are refused above 48 MiB",
            code: .busy)
    }

    /// A size as text, with one decimal.
    private static func mebibytes(_ bytes: Int64) -> String {
        let tenths = (bytes * 10) >> 20
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}
