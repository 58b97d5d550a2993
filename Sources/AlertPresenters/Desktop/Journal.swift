import CSystemd
import Glibc

/// The machine's journal; see systemd-journald(8).
package enum Journal {
    /// Whether the journal runs on this machine, and can be written to.
    package static var isThere: Bool {
        access("/run/systemd/journal/socket", W_OK) == 0 && SystemdLibrary.isThere
    }

    /// Writes one entry, with a field for each name; see sd_journal_sendv(3) and
    /// systemd.journal-fields(7).
    ///
    /// - Returns: Whether the journal took it.
    package static func send(_ fields: [(name: String, value: String)]) -> Bool {
        guard let systemd = try? SystemdLibrary.functions() else { return false }
        let lines = fields.map { Array("\($0.name)=\($0.value)".utf8) }
        let parts = lines.map { line in
            let copy = UnsafeMutableRawBufferPointer.allocate(
                byteCount: line.count, alignment: 1)
            copy.copyBytes(from: line)
            return iovec(iov_base: copy.baseAddress, iov_len: copy.count)
        }
        defer { for part in parts { part.iov_base.deallocate() } }
        return systemd.sd_journal_sendv(parts, Int32(parts.count)) == 0
    }
}
