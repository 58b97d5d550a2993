import AlertCore
import CLinux
import Glibc
import Linux
import Synchronization

/// Makes sure that only one process at a time runs the named handler of an alert.
///
/// Each turn is an open-file-description lock on the byte at the alert's id (fcntl(2)); the file
/// stays empty, because a lock may be beyond its end.
struct HandlerTurns: Sendable {
    let path: String
    let mode: mode_t

    /// Takes the turn of an alert; `nil` if another holder has it.
    func take(_ id: Alert.ID) throws(AlertError) -> HeldHandlerTurn? {
        let descriptor = try Descriptor.open(path, mode: mode)
        var request = flock()
        request.l_type = Int16(F_WRLCK)
        request.l_whence = Int16(SEEK_SET)
        request.l_start = off_t(id)
        request.l_len = 1
        guard clinux_ofd_setlk(descriptor.raw, &request) == 0 else {
            guard errno == EAGAIN || errno == EACCES else {
                throw SystemError.current("lock", path)
            }
            return nil
        }
        return descriptor.isStill(at: path) ? HeldHandlerTurn(descriptor, request) : nil
    }
}

final class HeldHandlerTurn: HandlerTurn {
    private let held: Mutex<Descriptor?>
    private let id: Int64

    init(_ descriptor: Descriptor, _ request: flock) {
        held = Mutex(descriptor)
        id = Int64(request.l_start)
    }

    var descriptor: Int32? { held.withLock { $0?.raw } }

    func end() {
        held.withLock { descriptor in
            guard let raw = descriptor?.raw else { return }
            // A child may have inherited the descriptor, and its own children may still be running.
            var request = flock()
            request.l_type = Int16(F_UNLCK)
            request.l_whence = Int16(SEEK_SET)
            request.l_start = off_t(id)
            request.l_len = 1
            _ = clinux_ofd_setlk(raw, &request)
            descriptor = nil
        }
    }
}
