import AlertCore
import CLinux
import Glibc
import Linux
import Synchronization

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
