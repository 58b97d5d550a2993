import Foundation

/// What processes did to the files of a directory, in order, as recorded by `journal.c`.
struct WriteJournal {
    enum Record {
        case opened(name: String, inode: UInt64, isNew: Bool)
        case linked(name: String, inode: UInt64)
        case unlinked(name: String)
        case wrote(inode: UInt64, offset: Int, Data)
        /// A change of size; with `onlyGrows`, a larger file keeps its size.
        case resized(inode: UInt64, size: Int, onlyGrows: Bool)
        case synced(inode: UInt64)
        /// What a process wrote to its standard output.
        case acknowledged(pid: Int, Data)
    }

    let records: [Record]

    init(path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        let header = 32
        var records: [Record] = []
        var start = 0
        // A process that was killed may have left half a record at the very end.
        while start + header <= data.count {
            let numbers = data.withUnsafeBytes { bytes in
                (
                    length: Int(bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)),
                    inode: bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self),
                    offset: Int(bytes.loadUnaligned(fromByteOffset: start + 16, as: Int64.self)),
                    pid: Int(bytes.loadUnaligned(fromByteOffset: start + 24, as: Int64.self))
                )
            }
            let end = start + header + numbers.length
            guard end <= data.count else { break }
            // A copy, so that offsets begin at 0.
            let bytes = Data(data[(start + header)..<end])
            let name = String(decoding: bytes, as: UTF8.self)
            switch data[start] {
            case UInt8(ascii: "O"):
                records.append(
                    .opened(name: name, inode: numbers.inode, isNew: data[start + 1] != 0))
            case UInt8(ascii: "L"): records.append(.linked(name: name, inode: numbers.inode))
            case UInt8(ascii: "U"): records.append(.unlinked(name: name))
            case UInt8(ascii: "W"):
                records.append(.wrote(inode: numbers.inode, offset: numbers.offset, bytes))
            case UInt8(ascii: "T"), UInt8(ascii: "Z"):
                records.append(
                    .resized(
                        inode: numbers.inode, size: numbers.offset,
                        onlyGrows: data[start] == UInt8(ascii: "Z")))
            case UInt8(ascii: "S"): records.append(.synced(inode: numbers.inode))
            case UInt8(ascii: "A"): records.append(.acknowledged(pid: numbers.pid, bytes))
            default: throw CocoaError(.fileReadCorruptFile)
            }
            start = end
        }
        self.records = records
    }
}
