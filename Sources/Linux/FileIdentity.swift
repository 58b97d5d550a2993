import CLinux

/// The identity of a file, under any name.
///
/// The inode number of a deleted file may be reused at once, so the time of birth is part of the
/// identity; see statx(2).
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    private let bornSeconds: Int64
    private let bornNanoseconds: Int64
    /// Its size in bytes; not part of its identity, but read with it, like what follows.
    package let size: Int64
    /// How many names it has.
    package let links: Int
    /// Whether it is a mount of its own; `nil` if the kernel, before Linux 5.8, does not say.
    package let isMountRoot: Bool?

    package init?(path: String) {
        var file = clinux_file()
        guard !path.isEmpty, clinux_file_look(AT_FDCWD, path, &file) == 0 else { return nil }
        self.init(file)
    }

    package init?(descriptor: Int32) {
        var file = clinux_file()
        guard clinux_file_look(descriptor, "", &file) == 0 else { return nil }
        self.init(file)
    }

    /// The size of the file at a path in bytes; 0 if there is none.
    package static func size(of path: String) -> Int64 { FileIdentity(path: path)?.size ?? 0 }

    private init(_ file: clinux_file) {
        device = file.device
        inode = file.inode
        bornSeconds = file.born_seconds
        bornNanoseconds = file.born_nanoseconds
        size = file.size
        links = Int(file.links)
        isMountRoot = file.knows_mount_roots != 0 ? file.is_mount_root != 0 : nil
    }

    package static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left.device == right.device && left.inode == right.inode
            && left.bornSeconds == right.bornSeconds
            && left.bornNanoseconds == right.bornNanoseconds
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
        hasher.combine(bornNanoseconds)
    }
}
