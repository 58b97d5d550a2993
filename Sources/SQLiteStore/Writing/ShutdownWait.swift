import Glibc
import Linux

/// Decides how long a process that was asked to end waits for the writer lock.
///
/// A lock that passes from one process to the next is worth waiting for, no matter how many
/// processes there are: on a busy machine dozens may withdraw their alerts at once. A lock that one
/// process keeps holding is not, least of all if that process is stopped or writes nothing.
struct ShutdownWait {
    /// How many consecutive checks, a tenth of a second apart, must find the same holder. On a busy
    /// machine a process that commits again and again may well be found by several of them, but
    /// then the files change.
    private static let looksAtStopped = 3
    private static let looksAtIdle = 6
    private static let looksAtWriting = 20

    private let files: QueueFiles
    /// The last holder; one that can't be seen counts as always the same.
    private var holder: LinuxProcess?
    /// The files as the last check found them.
    private var written: [FileChange?] = []
    /// How many checks have found this holder, and how many of them have found nothing new written.
    private var looks = (all: 0, idle: 0)

    init(files: QueueFiles) {
        self.files = files
    }

    /// Checks the lock, which some caller waits for; returns whether it is useless to wait on.
    mutating func isHopeless() -> Bool {
        let seen = FileLocks(path: files.lock)?.flockHolder()
        let now = [files.database, files.wal].map(FileChange.init)
        let isSame = seen == holder
        looks = (isSame ? looks.all + 1 : 1, isSame && now == written ? looks.idle + 1 : 1)
        (holder, written) = (seen, now)
        return looks.all >= Self.looksAtWriting
            || looks.idle >= (seen?.isStopped == true ? Self.looksAtStopped : Self.looksAtIdle)
    }

    /// Forgets earlier checks, because the wait is over.
    mutating func end() {
        looks = (0, 0)
    }
}

/// The attributes that show whether a file was written; see stat(2).
struct FileChange: Equatable {
    private let numbers: [Int64]

    /// `nil` where there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int64(bitPattern: UInt64(status.st_ino)), Int64(status.st_size),
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
        ]
    }
}
